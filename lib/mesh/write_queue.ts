// Which bytes go into the next write to a socket?
import type { Bytes } from "../base/units.ts";
import { type WriteBuffers, writeBytesMax } from "./write_buffers.ts";

/** Takes bytes from its start and says how many it took, as `Deno.Conn.write` does. */
export type Write = (bytes: Uint8Array) => Promise<number>;

/** Pieces in order, joined into as few writes as possible. Its owner bounds it by `byteCount`. */
export class WriteQueue {
  readonly #buffers: WriteBuffers;
  #pieces: Uint8Array[] = [];
  /** Index of the first piece not yet written. */
  #next = 0;
  #byteCount: Bytes = 0;

  constructor(buffers: WriteBuffers) {
    this.#buffers = buffers;
  }

  /** Queued and not yet handed to a write. */
  get byteCount(): Bytes {
    return this.#byteCount;
  }

  /** @param piece Taken over; not changed by anybody until it is written. */
  push(piece: Uint8Array): void {
    this.#pieces.push(piece);
    this.#byteCount += piece.byteLength;
  }

  clear(): void {
    this.#pieces = [];
    this.#next = 0;
    this.#byteCount = 0;
  }

  /** Writes one batch of what is queued, whole, however little `write` takes at a time. Not reentrant. */
  async writeBatch(write: Write): Promise<void> {
    const first = this.#pieces[this.#next];
    if (this.#pieces.length === this.#next + 1 || first.byteLength > writeBytesMax) {
      this.#shift();
      return await writeWhole(write, first);
    }
    const buffer = this.#buffers.take();
    try {
      await writeWhole(write, buffer.subarray(0, this.#fill(buffer)));
    } finally {
      this.#buffers.give(buffer);
    }
  }

  #fill(buffer: Uint8Array): Bytes {
    let filled = 0;
    while (this.#next < this.#pieces.length) {
      const piece = this.#pieces[this.#next];
      if (filled + piece.byteLength > buffer.byteLength) break;
      buffer.set(piece, filled);
      filled += piece.byteLength;
      this.#shift();
    }
    return filled;
  }

  #shift(): void {
    this.#byteCount -= this.#pieces[this.#next].byteLength;
    this.#next++;
    if (this.#next === this.#pieces.length) {
      this.#pieces = [];
      this.#next = 0;
    }
  }
}

async function writeWhole(write: Write, bytes: Uint8Array): Promise<void> {
  for (let offset = 0; offset < bytes.byteLength;) {
    offset += await write(offset === 0 ? bytes : bytes.subarray(offset));
  }
}
