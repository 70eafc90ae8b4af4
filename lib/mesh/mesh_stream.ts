// How does a libp2p stream become a ByteStream?
import type { Connection, Stream, StreamMessageEvent } from "@libp2p/interface";
import { assert } from "../base/assert.ts";
import type { ByteStream, ByteStreamHandlers } from "../base/byte_stream.ts";
import { OtelaError } from "../base/errors.ts";
import { type Bytes, KiB, MiB } from "../base/units.ts";

/** Given to libp2p at a time, so that it never holds more than this beside the stream's window. */
const pieceBytesMax: Bytes = 256 * KiB;

/** A sender that goes on after `false` loses its stream here: eight times what a lane may hold unsent. */
export const unsentBytesMax: Bytes = 16 * MiB;

/** The libp2p adapter of `ByteStream`; lives as long as its connection, silent or not. */
export class MeshStream implements ByteStream {
  readonly isRelayed: boolean;
  readonly #stream: Stream;
  readonly #connection: Connection;
  #handlers: ByteStreamHandlers | undefined;
  #queue: Uint8Array[] = [];
  #queuedBytes: Bytes = 0;
  #owesDrained = false;
  #hasClosed = false;
  #hasRemoteClosed = false;
  /** Why it is over, once it is; told to the owner in a microtask, never inside one of its calls. */
  #end: { readonly error: Error | undefined } | undefined;
  #isTold = false;
  #isAborted = false;

  constructor(stream: Stream, connection: Connection) {
    this.#stream = stream;
    this.#connection = connection;
    this.isRelayed = !connection.direct;
    stream.addEventListener("remoteCloseWrite", () => this.#hasRemoteClosed = true);
    stream.addEventListener("close", (event) => this.#finish(event.error));
    // After libp2p's own listener, which sends what libp2p holds in a microtask; ours comes behind it.
    stream.addEventListener("drain", () => queueMicrotask(() => this.#pump()));
    // The other side may have ended it while libp2p was still writing to its peer store.
    this.#hasRemoteClosed = stream.remoteWriteStatus === "closed";
    if (stream.status !== "open") this.#finish(new Error(`The stream is ${stream.status}`));
  }

  get unsentBytes(): Bytes {
    return this.#queuedBytes + this.#stream.writeBufferLength;
  }

  bind(handlers: ByteStreamHandlers): void {
    assert(this.#handlers === undefined, "a byte stream is bound once");
    this.#handlers = handlers;
    // Adding the listener delivers in a microtask what arrived before.
    this.#stream.addEventListener("message", (event) => this.#take(event));
    if (this.#end) queueMicrotask(() => this.#tellEnd());
  }

  send(bytes: Uint8Array): boolean {
    if (this.#hasClosed || this.#end) return false;
    if (this.unsentBytes + bytes.byteLength > unsentBytesMax) {
      this.abort(
        new OtelaError(
          "lane_failed",
          `Cannot send as at most ${unsentBytesMax} bytes may be unsent: ${this.unsentBytes} are`,
        ),
      );
      return false;
    }
    this.#queue.push(bytes);
    this.#queuedBytes += bytes.byteLength;
    this.#owesDrained = !this.#sendQueued();
    return !this.#owesDrained;
  }

  close(): void {
    if (this.#hasClosed || this.#end) return;
    this.#hasClosed = true;
    if (this.#sendQueued()) this.#closeWrite();
  }

  abort(reason: Error): void {
    if (this.#end) return;
    this.#isAborted = true;
    this.#stream.abort(reason);
  }

  #pump(): void {
    if (this.#end || !this.#sendQueued()) return;
    if (this.#hasClosed) this.#closeWrite();
    if (!this.#owesDrained) return;
    this.#owesDrained = false;
    this.#handlers?.drained();
  }

  /** Whether everything went to libp2p and it takes more. */
  #sendQueued(): boolean {
    while (this.#queue.length > 0) {
      if (this.#stream.writableNeedsDrain) return false;
      const [first] = this.#queue;
      const piece = first.byteLength > pieceBytesMax ? first.subarray(0, pieceBytesMax) : first;
      if (piece === first) this.#queue.shift();
      else this.#queue[0] = first.subarray(pieceBytesMax);
      this.#queuedBytes -= piece.byteLength;
      try {
        this.#stream.send(piece);
      } catch {
        // libp2p ends the stream when it cannot send; the reason comes with its close event.
        return false;
      }
    }
    return !this.#stream.writableNeedsDrain;
  }

  #closeWrite(): void {
    this.#stream.close().catch((error) => this.#stream.abort(error as Error));
  }

  #take({ data }: StreamMessageEvent): void {
    for (const piece of data instanceof Uint8Array ? [data] : data) {
      if (this.#isAborted || this.#isTold) return;
      this.#handlers!.data(piece);
    }
  }

  /** libp2p does not pass a dead connection's error on to its streams: without one, look at the connection. */
  #finish(error: Error | undefined): void {
    if (this.#end) return;
    const isClean = this.#hasClosed && this.#hasRemoteClosed && this.#connection.status === "open";
    const dead = () =>
      new OtelaError(
        "lane_failed",
        `Cannot use the stream further as its connection must be open: it is ${this.#connection.status}`,
      );
    this.#end = { error: error ?? (isClean ? undefined : dead()) };
    this.#queue = [];
    this.#queuedBytes = 0;
    queueMicrotask(() => this.#tellEnd());
  }

  #tellEnd(): void {
    if (!this.#handlers || this.#isTold) return;
    this.#isTold = true;
    this.#handlers.closed(this.#end!.error);
  }
}
