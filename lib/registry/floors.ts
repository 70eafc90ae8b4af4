// What do we remember of claims whose lease has ended, so that a replay cannot bring them back?
import type { PeerId } from "../base/peer_id.ts";
import type { Ms } from "../base/units.ts";
import { hourMs } from "../base/units.ts";
import { encodeEnvelope } from "./envelope.ts";
import type { EnvelopeHead } from "./order.ts";

/** Protocol §2. */
export const floorKeptMs: Ms = 24 * hourMs;
export const floorsMax = 20_000;

/** The last state of an ended claim, with the owner's signature so that the owner can be shown it. */
export type Floor = EnvelopeHead & {
  readonly signedPart: Uint8Array;
  readonly signature: Uint8Array;
  readonly forgottenAtMs: Ms;
};

/** Floors by owner, the oldest first; when there are too many the oldest is forgotten. */
export class Floors {
  readonly #byOwner = new Map<PeerId, Floor>();

  get size(): number {
    return this.#byOwner.size;
  }

  get(owner: PeerId): Floor | undefined {
    return this.#byOwner.get(owner);
  }

  values(): IterableIterator<Floor> {
    return this.#byOwner.values();
  }

  /** Raises the owner's floor; never lowers it. */
  raise(floor: Floor): void {
    const former = this.#byOwner.get(floor.owner);
    if (former && isAtOrBelow(floor, former)) return;
    this.#byOwner.delete(floor.owner); // Moves it to the end.
    this.#byOwner.set(floor.owner, floor);
    for (const owner of this.#byOwner.keys()) {
      if (this.#byOwner.size <= floorsMax) break;
      this.#byOwner.delete(owner);
    }
  }

  /** The owner has a claim above its floor again. */
  lift(owner: PeerId): void {
    this.#byOwner.delete(owner);
  }

  /** Forgets what is old enough. */
  ticked(nowMs: Ms): void {
    for (const [owner, floor] of this.#byOwner) {
      if (floor.forgottenAtMs > nowMs) break; // Kept for equally long, so ordered by time.
      this.#byOwner.delete(owner);
    }
  }
}

/** A floor is about (epoch, seq) alone: an equal state with another hash is just as dead. */
export function isAtOrBelow(head: EnvelopeHead, floor: EnvelopeHead): boolean {
  return head.epoch < floor.epoch || (head.epoch === floor.epoch && head.seq <= floor.seq);
}

/** The floor as an envelope with no lease left and no document: its owner recognises it and outbids it. */
export function envelopeOfFloor(floor: Floor): Uint8Array {
  return encodeEnvelope({ ...floor, remainingS: 0, document: null });
}
