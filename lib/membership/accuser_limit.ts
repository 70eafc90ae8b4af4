// Does somebody say more than anyone could have seen?
import type { PeerId } from "../base/peer_id.ts";
import { type Ms, secondMs } from "../base/units.ts";
import { accusationsPerSecondMax } from "./defaults.ts";

/** Accusers followed at once; when there are more, all begin anew. A guess: as many as an open mesh may gain in ten minutes. */
const accusersMax = 512;

/** Reads at most five accusations, or signs of life, a second of each signer, before their signatures cost anything. */
export class AccuserLimit {
  readonly #seen = new Map<PeerId, { startMs: Ms; count: number }>();

  /** Counts one. @returns Whether it may be read. */
  mayRead(accuser: PeerId, nowMs: Ms): boolean {
    const known = this.#seen.get(accuser);
    if (known && nowMs - known.startMs < secondMs) return ++known.count <= accusationsPerSecondMax;
    if (!known && this.#seen.size >= accusersMax) this.#seen.clear();
    this.#seen.set(accuser, { startMs: nowMs, count: 1 });
    return true;
  }
}
