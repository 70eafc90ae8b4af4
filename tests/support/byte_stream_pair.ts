// How do tests get two connected byte streams without a network?
import type { ByteStream, ByteStreamHandlers } from "../../lib/base/byte_stream.ts";
import { assert } from "../../lib/base/assert.ts";
import { type Bytes, MiB } from "../../lib/base/units.ts";

/** Two ends of one connection in memory, and the hands of fate. */
export type ByteStreamPair = {
  readonly a: ByteStream;
  readonly b: ByteStream;
  /** The connection stands still: sent bytes count as unsent until `release`. */
  hold(): void;
  release(): void;
  /** The connection dies: both ends are told why, unsent bytes are lost. */
  cut(error: Error): void;
};

export type ByteStreamPairOptions = {
  /** `send` returns false from here on; 2 MiB when not given, as in the mesh. */
  readonly unsentBytesMax?: Bytes;
  /** Length of the next piece that arrives, of `left` bytes; all of it when not given. */
  readonly cutAt?: (left: Bytes) => Bytes;
  readonly isRelayed?: boolean;
};

/**
 * A pair that keeps the contract of `ByteStream` strictly: handlers run in microtasks, never inside a call of
 * their owner, and a piece is overwritten after `data` returns, so that whoever keeps it without copying is found.
 */
export function byteStreamPair(options: ByteStreamPairOptions = {}): ByteStreamPair {
  const a = new MemoryStream(options);
  const b = new MemoryStream(options);
  a.peer = b;
  b.peer = a;
  const setHeld = (isHeld: boolean) => {
    for (const end of [a, b]) {
      end.isHeld = isHeld;
      end.schedule();
    }
  };
  return {
    a,
    b,
    hold: () => setHeld(true),
    release: () => setHeld(false),
    cut: (error) => {
      a.die(error);
      b.die(error);
    },
  };
}

class MemoryStream implements ByteStream {
  peer!: MemoryStream;
  isHeld = false;
  unsentBytes: Bytes = 0;
  readonly isRelayed: boolean;
  readonly #unsentBytesMax: Bytes;
  readonly #cutAt: (left: Bytes) => Bytes;
  #handlers: ByteStreamHandlers | undefined;
  #queue: Uint8Array[] = [];
  #isScheduled = false;
  #owesDrained = false;
  #hasClosed = false;
  #hasDeliveredEnd = false;
  #death: Error | undefined;
  #isOver = false;

  constructor(options: ByteStreamPairOptions) {
    this.isRelayed = options.isRelayed ?? false;
    this.#unsentBytesMax = options.unsentBytesMax ?? 2 * MiB;
    this.#cutAt = options.cutAt ?? ((left) => left);
  }

  bind(handlers: ByteStreamHandlers): void {
    assert(this.#handlers === undefined, "a byte stream is bound once");
    this.#handlers = handlers;
    this.schedule();
    this.peer.schedule();
  }

  send(bytes: Uint8Array): boolean {
    if (this.#hasClosed || this.#death || this.#isOver) return false;
    this.#queue.push(bytes);
    this.unsentBytes += bytes.byteLength;
    this.schedule();
    if (this.unsentBytes < this.#unsentBytesMax) return true;
    this.#owesDrained = true;
    return false;
  }

  close(): void {
    this.#hasClosed = true;
    this.schedule();
  }

  abort(reason: Error): void {
    this.die(reason);
    this.peer.die(new Error(`The other side aborted the stream: ${reason.message}`));
  }

  die(reason: Error): void {
    if (this.#isOver || this.#death) return;
    this.#death = reason;
    this.#queue = [];
    this.unsentBytes = 0;
    this.schedule();
  }

  schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    queueMicrotask(() => {
      this.#isScheduled = false;
      this.#run();
    });
  }

  #run(): void {
    if (!this.#death && !this.isHeld && this.peer.#handlers) this.#deliver();
    if (!this.#handlers || this.#isOver) return;
    if (this.#death) return this.#finish(this.#death);
    if (this.#owesDrained && this.unsentBytes === 0) {
      this.#owesDrained = false;
      this.#handlers.drained();
    }
    if (this.#hasDeliveredEnd && this.peer.#hasDeliveredEnd) {
      this.#finish(undefined);
      this.peer.schedule();
    }
  }

  #deliver(): void {
    for (let bytes = this.#queue.shift(); bytes; bytes = this.#queue.shift()) {
      for (let offset = 0; offset < bytes.byteLength && !this.#death;) {
        const left = bytes.byteLength - offset;
        const piece = bytes.slice(offset, offset + Math.max(1, Math.min(left, this.#cutAt(left))));
        offset += piece.byteLength;
        this.unsentBytes -= piece.byteLength;
        if (!this.peer.#death && !this.peer.#isOver) this.peer.#handlers?.data(piece);
        piece.fill(0xdd);
      }
    }
    if (this.#hasClosed && !this.#hasDeliveredEnd && !this.#death) {
      this.#hasDeliveredEnd = true;
      this.peer.schedule();
    }
  }

  #finish(error: Error | undefined): void {
    this.#isOver = true;
    this.#handlers?.closed(error);
  }
}
