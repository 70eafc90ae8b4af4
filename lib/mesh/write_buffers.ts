// Where do many small pieces become one write without making garbage?
import { type Bytes, KiB } from "../base/units.ts";

/** Longest single write: one noise message is at most 64 KiB + 1, so two fit nearly whole. */
export const writeBytesMax: Bytes = 128 * KiB;

/** Buffers kept for reuse; more may be in use at once (8 MiB in all; guess). */
const keptCountMax = 64;

/**
 * Buffers of `writeBytesMax`, lent for the time of one write and shared by the connections of a transport, as
 * a fresh one per write makes V8 collect external memory all the time, and one per connection would
 * cost a head with thousands of idle connections a gigabyte.
 */
export class WriteBuffers {
  readonly #kept: Uint8Array<ArrayBuffer>[] = [];

  take(): Uint8Array<ArrayBuffer> {
    return this.#kept.pop() ?? new Uint8Array(writeBytesMax);
  }

  give(buffer: Uint8Array<ArrayBuffer>): void {
    if (this.#kept.length < keptCountMax) this.#kept.push(buffer);
  }
}
