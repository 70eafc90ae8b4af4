// Which documents do we not load again, because they have hurt the loader before?
import type { PeerId } from "../base/peer_id.ts";
import type { Ms } from "../base/units.ts";
import { hourMs } from "../base/units.ts";

/** Protocol §2. */
const refusedForMs: Ms = hourMs;
/** An owner whose documents overran so often within the hour is refused whole: a new hash costs it nothing. */
const overrunsPerOwnerMax = 3;
/** Bound on remembered owners; beyond it the oldest is forgotten. */
const ownersMax = 4_096;

/** Remembers overruns by owner and hash for an hour. */
export class LoadRefusals {
  readonly #byOwner = new Map<PeerId, { untilMs: Ms; hashes: Set<string> }>();

  /** Whether this document must not be loaded now. */
  has(owner: PeerId, hash: string, nowMs: Ms): boolean {
    const refused = this.#byOwner.get(owner);
    if (!refused || refused.untilMs <= nowMs) return false;
    return refused.hashes.has(hash) || refused.hashes.size >= overrunsPerOwnerMax;
  }

  /** This document overran or crashed the loader. */
  overran(owner: PeerId, hash: string, nowMs: Ms): void {
    const former = this.#byOwner.get(owner);
    const hashes = former && former.untilMs > nowMs ? former.hashes : new Set<string>();
    hashes.add(hash);
    this.#byOwner.delete(owner);
    this.#byOwner.set(owner, { untilMs: nowMs + refusedForMs, hashes });
    for (const oldest of this.#byOwner.keys()) {
      if (this.#byOwner.size <= ownersMax) break;
      this.#byOwner.delete(oldest);
    }
  }

  /** Forgets what is old enough. */
  ticked(nowMs: Ms): void {
    for (const [owner, refused] of this.#byOwner) {
      if (refused.untilMs > nowMs) break; // Ordered by time, as each is refused for equally long.
      this.#byOwner.delete(owner);
    }
  }
}
