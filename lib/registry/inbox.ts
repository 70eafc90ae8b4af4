// What waits to be looked at, so that a bulk import never holds the thread for long?
import type { PeerId } from "../base/peer_id.ts";
import { type Bytes, MiB } from "../base/units.ts";

/** All waiting envelopes together; two syncs of ours wait with 128 KiB, so this is hundreds of peers at once. */
export const inboxBytesMax: Bytes = 16 * MiB;

/** An envelope that arrived in bulk. */
export type Arrival = { readonly from: PeerId; readonly bytes: Uint8Array };

/** Envelopes in order of arrival, bounded in bytes. */
export class Inbox {
  #arrivals: Arrival[] = [];
  #nextAt = 0;
  #bytes = 0;

  get size(): number {
    return this.#arrivals.length - this.#nextAt;
  }

  /** @returns Whether there was room. */
  push(arrival: Arrival): boolean {
    if (this.#bytes + arrival.bytes.byteLength > inboxBytesMax) return false;
    this.#bytes += arrival.bytes.byteLength;
    this.#arrivals.push(arrival);
    return true;
  }

  /** The oldest; `undefined` when none waits. */
  take(): Arrival | undefined {
    const arrival = this.#arrivals[this.#nextAt++];
    if (arrival === undefined || this.#nextAt === this.#arrivals.length) {
      this.#arrivals = [];
      this.#nextAt = 0;
    }
    this.#bytes -= arrival?.bytes.byteLength ?? 0;
    return arrival;
  }
}
