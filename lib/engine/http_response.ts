// What does an engine answer, read from the bytes of its connection?
import { type Bytes, KiB } from "../base/units.ts";
import {
  broken,
  cr,
  endOfBlock,
  fieldsOf,
  framingFields,
  lf,
  lists,
  textOf,
  withoutCr,
} from "./http_fields.ts";

/** Who hears an answer, part by part. */
export type ResponseSink = {
  /** @param headers Names in lower case and values in turn, in wire order; bytes as Latin-1. */
  head(status: number, headers: string[]): void;
  /** @param chunk Valid until the call returns. */
  data(chunk: Uint8Array): void;
  /** @param trailers As headers. */
  end(trailers: string[]): void;
};

/** A head, and what may follow a body in pieces; as much as a lane carries (protocol §5). */
const blockBytesMax: Bytes = 64 * KiB;
/** The line before a piece, with extensions that nobody reads. A guess. */
const sizeLineBytesMax: Bytes = 4 * KiB;
/** "103 Early Hints" and the like before one answer. A guess. */
const interimMax = 32;

const semicolon = 0x3b;

const State = {
  /** Nothing was asked: bytes now belong to nobody. */
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

const statusLine = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [^\0\r\n]*)?$/;

/**
 * Reads one answer after the other from a connection (HTTP/1.1 and 1.0, RFC 9112), however its bytes are cut. Neither
 * stricter nor laxer than needed: what would leave it open where an answer ends is an error.
 */
export class ResponseReader {
  private state: State = State.idle;
  private method = "";
  private left: Bytes = 0;
  private interimCount = 0;
  private isKept = false;
  /** Bytes of the line that is read now. */
  private lineBytes: Bytes = 0;
  private hasDigits = false;
  /** The beginning of a head or of trailers that came in parts. */
  private block = new Uint8Array(0);
  private blockBytes: Bytes = 0;

  constructor(private readonly sink: ResponseSink) {}

  /** A request was sent: its answer is what comes next. @param method Decides whether it has a body. */
  expect(method: string): void {
    this.method = method;
    this.interimCount = 0;
    this.state = State.head;
  }

  /** Whether another request may follow on this connection, once the answer has ended. */
  get isReusable(): boolean {
    return this.isKept;
  }

  /** @throws {OtelaError} `worker_failed`: the connection cannot be read further. */
  push(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length;) {
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
          this.sink.data(at === 0 ? bytes : bytes.subarray(at));
          return;
        case State.idle:
          throw broken("it sent more than was asked for");
      }
    }
  }

  /** The engine closed its side. @throws {OtelaError} `worker_failed` in the middle of an answer. */
  close(): void {
    if (this.state === State.untilClose) this.complete([]);
    else if (this.state === State.head) throw broken("it closed the connection without an answer");
    else if (this.state !== State.idle) throw broken("it closed the connection within its answer");
  }

  private takeBody(bytes: Uint8Array, at: number): number {
    const end = Math.min(bytes.length, at + this.left);
    this.left -= end - at;
    const isPiece = this.state === State.chunk;
    this.sink.data(bytes.subarray(at, end));
    if (this.left > 0) return end;
    if (isPiece) {
      this.state = State.chunkEnd;
      this.lineBytes = 0;
    } else this.complete([]);
    return end;
  }

  private takeChunkEnd(bytes: Uint8Array, at: number): number {
    const byte = bytes[at];
    if (byte === lf) this.beginSize();
    else if (byte !== cr || this.lineBytes++ > 0) throw broken("a piece of its body is too long");
    return at + 1;
  }

  private beginSize(): void {
    this.state = State.size;
    this.left = 0;
    this.lineBytes = 0;
    this.hasDigits = false;
  }

  private takeSize(bytes: Uint8Array, at: number): number {
    for (; at < bytes.length; at++) {
      const byte = bytes[at];
      if (++this.lineBytes > sizeLineBytesMax) throw broken("the size of a piece is too long");
      if (byte === lf) {
        if (!this.hasDigits) throw broken("a piece of its body has no size");
        this.state = this.left > 0 ? State.chunk : State.trailers;
        return at + 1;
      }
      if (this.state === State.sizeRest) continue;
      const digit = hexDigit(byte);
      if (digit >= 0) {
        this.left = this.left * 16 + digit;
        this.hasDigits = true;
        if (this.left > Number.MAX_SAFE_INTEGER / 16) throw broken("a piece is too long");
      } else if (byte === semicolon || byte === cr || byte === 0x20 || byte === 0x09) {
        this.state = State.sizeRest;
      } else throw broken("the size of a piece is no number");
    }
    return at;
  }

  /** Reads on to the empty line that ends a head or trailers. @returns Where it goes on. */
  private takeBlock(bytes: Uint8Array, at: number): number {
    const before = this.blockBytes;
    if (before === 0) {
      const end = endOfBlock(bytes, at);
      if (end > 0) {
        if (end - at > blockBytesMax) throw tooLong();
        this.takeWhole(bytes.subarray(at, end));
        return end;
      }
    }
    this.hold(bytes.subarray(at));
    // An empty line can have begun up to three bytes ago.
    const end = endOfBlock(this.block, Math.max(0, before - 3), this.blockBytes, before <= 3);
    if (end < 0) {
      if (this.blockBytes > blockBytesMax) throw tooLong();
      return bytes.length;
    }
    if (end > blockBytesMax) throw tooLong();
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
    if (this.state === State.trailers) return this.complete(fieldsOf(lines, 0));
    const found = statusLine.exec(withoutCr(lines[0]));
    if (!found) throw broken("it does not begin as HTTP/1.1 must");
    const status = Number(found[2]);
    const headers = fieldsOf(lines, 1);
    if (status < 200) {
      if (status === 101) throw broken("it changed to a protocol that nobody asked for");
      if (++this.interimCount > interimMax) throw broken("it sends interim answers without end");
      return;
    }
    this.begin(status, headers, found[1] === "0");
  }

  private begin(status: number, headers: string[], isOld: boolean): void {
    const { connection, coding, length } = framingFields(headers);
    this.isKept = isOld ? lists(connection, "keep-alive") : !lists(connection, "close");
    const hasBody = this.method !== "HEAD" && status !== 204 && status !== 304;
    if (hasBody) this.frameBody(coding, length);
    else this.left = 0;
    this.sink.head(status, headers);
    if (!hasBody || (this.state === State.length && this.left === 0)) this.complete([]);
  }

  /** How the body ends: RFC 9112 §6.3. */
  private frameBody(coding: string | undefined, length: string | undefined): void {
    if (coding !== undefined) {
      // Two lengths are two truths: somebody between may have believed the other.
      if (length !== undefined) throw broken("it has both a length and a transfer coding");
      if (coding === "chunked" || /[, ]chunked$/.test(coding)) return this.beginSize();
    } else if (length !== undefined) {
      if (!/^\d{1,15}$/.test(length)) throw broken("its length is no number");
      this.left = Number(length);
      this.state = State.length;
      return;
    }
    this.isKept = false;
    this.state = State.untilClose;
  }

  private complete(trailers: string[]): void {
    this.state = State.idle;
    this.sink.end(trailers);
  }
}

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}

function tooLong(): Error {
  return broken(`its head must have at most ${blockBytesMax} bytes`);
}
