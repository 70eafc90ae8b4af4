// How are small arrays made without a C allocation for each part of them?
import { type Bytes, KiB } from "./units.ts";

const slabBytes: Bytes = 16 * KiB;
/** A larger array is one of its own: it would waste what is left of a slab. */
const sharedBytesMax: Bytes = 2 * KiB;

/**
 * Cuts small arrays from a larger one. Deno's V8 keeps no array within its own heap, however small: each is four C
 * allocations, and when many of them are freed the C library stops the process for 2 to 3 ms to join what is left
 * (measured). No byte is lent twice, so an array stays as it is for as long as it is held; but it holds its whole slab
 * with it, so this is for what is soon let go.
 */
export class ByteSlab {
  private slab = new ArrayBuffer(0);
  private usedBytes: Bytes = 0;

  /** @returns Zeros, nobody else's. */
  take(bytes: Bytes): Uint8Array<ArrayBuffer> {
    if (bytes > sharedBytesMax) return new Uint8Array(bytes);
    if (this.usedBytes + bytes > this.slab.byteLength) {
      this.slab = new ArrayBuffer(slabBytes);
      this.usedBytes = 0;
    }
    const taken = new Uint8Array(this.slab, this.usedBytes, bytes);
    this.usedBytes += bytes;
    return taken;
  }

  /** @returns The same bytes, nobody else's. */
  copy(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
    const copied = this.take(bytes.length);
    copied.set(bytes);
    return copied;
  }
}
