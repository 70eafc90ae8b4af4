// How is the body of an answer read: as a stream, or piece by piece while it arrives?
import { ByteSlab } from "../base/byte_slab.ts";
import { type Bytes, KiB, type Ms } from "../base/units.ts";
import type { ExchangeError } from "./exchange_error.ts";

type Chunk = Uint8Array<ArrayBuffer>;

/** A body that arrives in pieces. */
export type BodyStream = ReadableStream<Uint8Array<ArrayBuffer>>;

/** Who reads a body without a stream, in the turn in which it arrives. Must not throw. */
export interface BodyFollower {
  /** @param chunk The follower's own. */
  chunk(chunk: Uint8Array<ArrayBuffer>): void;
  ended(): void;
  /** @param hasTail Whether the last chunk is the observer's `tail`. */
  broke(error: ExchangeError, hasTail: boolean): void;
}

/** What the sender of a body is told by its reader. */
export type BodySource = {
  /** The reader took bytes. */
  consumed(bytes: Bytes): void;
  /** Nobody reads any more. */
  cancel(): void;
};

/** Bytes the reader's stream holds before credit stops: half a starting window. */
const readAheadBytes: Bytes = 32 * KiB;

/**
 * Between the last bytes of a broken body and its stream's error: an HTTP server drops a connection with what
 * it has not written yet, and the reader should see those bytes. A guess, far above a write on loopback.
 */
export const tailMs: Ms = 50;

/** A reader that holds more is slow, and would hold slabs that are mostly others'. A relay tells what it read by so much. */
const slabHeldBytesMax: Bytes = 4 * KiB;
const slab = new ByteSlab();

/** A body that arrives in pieces, for one reader: either a stream or a follower. */
export class AnswerBody {
  private waiting: Chunk[] = [];
  private follower: BodyFollower | undefined;
  private end: "whole" | ExchangeError | undefined;
  private hasTail = false;
  private unreadBytes: Bytes = 0;

  constructor(private readonly source: BodySource) {}

  // The side where it arrives.

  /** @param chunk Copied. */
  push(chunk: Uint8Array): void {
    const own = this.unreadBytes > slabHeldBytesMax ? chunk.slice() : slab.copy(chunk);
    this.unreadBytes += own.length;
    if (this.follower) this.follower.chunk(own);
    else this.waiting.push(own);
  }

  close(): void {
    this.end = "whole";
    this.follower?.ended();
  }

  /** @param tail Last bytes for a reader of the stream, which sees them before the error. */
  fail(error: ExchangeError, tail?: Chunk): void {
    this.end = error;
    if (tail) {
      this.hasTail = true;
      this.push(tail);
    }
    this.follower?.broke(error, this.hasTail);
  }

  // The side where it is read.

  /**
   * Gives what waits and all that comes to `follower`, in the turn in which it arrives and without a promise.
   * Called once, and not beside `stream`.
   */
  follow(follower: BodyFollower): void {
    const { waiting } = this;
    this.waiting = [];
    this.follower = follower;
    for (const chunk of waiting) this.follower.chunk(chunk);
    if (this.end === "whole") this.follower.ended();
    else if (this.end !== undefined) this.follower.broke(this.end, this.hasTail);
  }

  /** What has come and was not yet taken for good. */
  get heldBytes(): Bytes {
    return this.unreadBytes;
  }

  /** A follower took bytes for good. */
  consumed(bytes: Bytes): void {
    this.unreadBytes -= bytes;
    this.source.consumed(bytes);
  }

  /** Nobody reads any more; nothing is told to a follower after it. */
  cancel(): void {
    this.follower = silent;
    this.waiting = [];
    this.source.cancel();
  }

  /** The body as a stream. Called once, and not beside `follow`. */
  stream(): BodyStream {
    const stream = new FollowedStream(this);
    return new ReadableStream<Chunk>(stream, { highWaterMark: readAheadBytes, size: byteLength });
  }
}

/** Makes a stream of a body; errors it once its last bytes were read and had time to leave. */
class FollowedStream implements UnderlyingDefaultSource<Chunk>, BodyFollower {
  private controller!: ReadableStreamDefaultController<Chunk>;
  private error: ExchangeError | undefined;
  private isOver = false;

  constructor(private readonly body: AnswerBody) {}

  start(controller: ReadableStreamDefaultController<Chunk>): void {
    this.controller = controller;
    this.body.follow(this);
  }

  /** What has left the stream's queue has been read. */
  pull(): void {
    if (this.isOver) return;
    if (this.error) return this.breakOff(this.error);
    const queuedBytes = readAheadBytes - (this.controller.desiredSize ?? readAheadBytes);
    const readBytes = this.body.heldBytes - queuedBytes;
    if (readBytes > 0) this.body.consumed(readBytes);
  }

  cancel(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.body.cancel();
  }

  chunk(chunk: Chunk): void {
    if (this.isOver) return;
    this.controller.enqueue(chunk);
  }

  ended(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.controller.close();
  }

  broke(error: ExchangeError, hasTail: boolean): void {
    if (this.isOver) return;
    if (hasTail) {
      this.error = error;
      return;
    }
    this.isOver = true;
    this.controller.error(error);
  }

  private breakOff(error: ExchangeError): void {
    if (this.controller.desiredSize !== readAheadBytes) return;
    this.isOver = true;
    setTimeout(() => this.controller.error(error), tailMs);
  }
}

const silent: BodyFollower = { chunk() {}, ended() {}, broke() {} };

function byteLength(chunk: Chunk): Bytes {
  return chunk.byteLength;
}
