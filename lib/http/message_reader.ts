// How is a message of HTTP/1.1 found in the bytes of its connection?
import { type Bytes, KiB } from "../base/units.ts";
import { cr, endOfBlock, fieldsOf, lf, textOf } from "./fields.ts";

/** A head, and what may follow a body in pieces; as much as a lane carries (protocol §5). */
export const blockBytesMax: Bytes = 64 * KiB;
/** The line before a piece, with extensions that nobody reads. A guess. */
const sizeLineBytesMax: Bytes = 4 * KiB;

const semicolon = 0x3b;

const State = {
  /** Between messages: bytes now belong to nobody. */
  idle: 0,
  head: 1,
  /** `left` bytes of the body are to come. */
  length: 2,
  untilClose: 3,
  size: 4,
  /** The rest of a size's line, which is not read. */
  sizeRest: 5,
  chunk: 6,
  chunkEnd: 7,
  trailers: 8,
} as const;
type State = typeof State[keyof typeof State];

/** Who hears a body, part by part. */
export type MessageSink = {
  /** @param chunk Valid until the call returns. */
  data(chunk: Uint8Array): void;
  /** The message is whole. @param trailers Names in lower case and values in turn. */
  end(trailers: string[]): void;
};

/**
 * Reads heads and bodies (RFC 9112), however their bytes are cut. Neither stricter nor laxer than needed: what would
 * leave it open where a message ends is an error. Whoever extends it says what a head means.
 */
export abstract class MessageReader {
  private state: State = State.idle;
  private left: Bytes = 0;
  /** Bytes of the line that is read now. */
  private lineBytes: Bytes = 0;
  private hasDigits = false;
  /** Blanks came in the line of a size. */
  private isPadded = false;
  /** The beginning of a head or of trailers that came in parts. */
  private block = new Uint8Array(0);
  private blockBytes: Bytes = 0;

  constructor(private readonly bodySink: MessageSink) {}

  /** @param lines Of a head, without its line ends but for CR, the last one empty. */
  protected abstract takeHead(lines: readonly string[]): void;

  /** Makes the error of a message that cannot be read further. */
  protected abstract fault(why: string): Error;

  /** The head could not be held. */
  protected abstract tooLong(): Error;

  /** Whether nothing of a message is expected or was read. */
  protected get isIdle(): boolean {
    return this.state === State.idle;
  }

  protected get isInHead(): boolean {
    return this.state === State.head;
  }

  protected get isUntilClose(): boolean {
    return this.state === State.untilClose;
  }

  /** Whether part of a head has come. */
  protected get hasPartOfHead(): boolean {
    return this.blockBytes > 0;
  }

  protected expectHead(): void {
    this.state = State.head;
  }

  /** From `takeHead`: so many bytes follow. */
  protected expectLength(bytes: Bytes): void {
    this.left = bytes;
    this.state = State.length;
  }

  /** From `takeHead`: pieces follow, each with its size. */
  protected expectPieces(): void {
    this.state = State.size;
    this.left = 0;
    this.lineBytes = 0;
    this.hasDigits = false;
    this.isPadded = false;
  }

  /** From `takeHead`: everything that comes is the body. */
  protected expectUntilClose(): void {
    this.state = State.untilClose;
  }

  protected complete(trailers: string[]): void {
    this.state = State.idle;
    this.bodySink.end(trailers);
  }

  /**
   * Reads on to the end of the message, or of the bytes.
   * @param from Where they begin.
   * @returns Where it stopped: what comes then belongs to no message that is expected.
   * @throws {Error} The connection cannot be read further.
   */
  protected read(bytes: Uint8Array, from: number): number {
    let at = from;
    while (at < bytes.length) {
      switch (this.state) {
        case State.head:
        case State.trailers:
          at = this.takeBlock(bytes, at);
          break;
        case State.length:
        case State.chunk:
          at = this.takeBody(bytes, at);
          break;
        case State.size:
        case State.sizeRest:
          at = this.takeSize(bytes, at);
          break;
        case State.chunkEnd:
          at = this.takeChunkEnd(bytes, at);
          break;
        case State.untilClose:
          this.bodySink.data(at === 0 ? bytes : bytes.subarray(at));
          return bytes.length;
        case State.idle:
          return at;
      }
    }
    return at;
  }

  private takeBody(bytes: Uint8Array, at: number): number {
    const end = Math.min(bytes.length, at + this.left);
    this.left -= end - at;
    const isPiece = this.state === State.chunk;
    this.bodySink.data(bytes.subarray(at, end));
    if (this.left > 0) return end;
    if (isPiece) {
      this.state = State.chunkEnd;
      this.lineBytes = 0;
    } else this.complete([]);
    return end;
  }

  private takeChunkEnd(bytes: Uint8Array, at: number): number {
    const byte = bytes[at];
    if (byte === lf) this.expectPieces();
    else if (byte !== cr || this.lineBytes++ > 0) {
      throw this.fault("a piece of its body is too long");
    }
    return at + 1;
  }

  private takeSize(bytes: Uint8Array, at: number): number {
    for (; at < bytes.length; at++) {
      const byte = bytes[at];
      if (++this.lineBytes > sizeLineBytesMax) throw this.fault("the size of a piece is too long");
      if (byte === lf) {
        if (!this.hasDigits) throw this.fault("a piece of its body has no size");
        this.state = this.left > 0 ? State.chunk : State.trailers;
        return at + 1;
      }
      if (this.state === State.sizeRest) continue;
      const digit = hexDigit(byte);
      if (digit >= 0) {
        this.left = this.left * 16 + digit;
        this.hasDigits = true;
        if (this.left > Number.MAX_SAFE_INTEGER / 16) throw this.fault("a piece is too long");
        if (this.isPadded) throw this.fault("the size of a piece is two numbers");
      } else if (byte === semicolon || byte === cr) this.state = State.sizeRest;
      else if (byte === 0x20 || byte === 0x09) this.isPadded = true;
      else throw this.fault("the size of a piece is no number");
    }
    return at;
  }

  /** Reads on to the empty line that ends a head or trailers. @returns Where it goes on. */
  private takeBlock(bytes: Uint8Array, at: number): number {
    const before = this.blockBytes;
    if (before === 0) {
      const end = endOfBlock(bytes, at);
      if (end > 0) {
        if (end - at > blockBytesMax) throw this.tooLong();
        this.takeWhole(bytes.subarray(at, end));
        return end;
      }
    }
    this.hold(bytes.subarray(at));
    // An empty line can have begun up to three bytes ago.
    const end = endOfBlock(this.block, Math.max(0, before - 3), this.blockBytes, before <= 3);
    if (end < 0) {
      if (this.blockBytes > blockBytesMax) throw this.tooLong();
      return bytes.length;
    }
    if (end > blockBytesMax) throw this.tooLong();
    this.blockBytes = 0;
    this.takeWhole(this.block.subarray(0, end));
    return at + end - before;
  }

  private hold(bytes: Uint8Array): void {
    const needed = this.blockBytes + bytes.length;
    if (needed > this.block.length) {
      const larger = new Uint8Array(Math.max(2 * this.block.length, needed, KiB));
      larger.set(this.block.subarray(0, this.blockBytes));
      this.block = larger;
    }
    this.block.set(bytes, this.blockBytes);
    this.blockBytes = needed;
  }

  private takeWhole(block: Uint8Array): void {
    const lines = textOf(block).split("\n");
    if (this.state === State.head) this.takeHead(lines);
    else this.complete(fieldsOf(lines, 0, (why) => this.fault(why)));
  }
}

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}
