// How does everybody get a turn?
import { assert } from "../../base/assert.ts";
import type { Candidate } from "../types.ts";

/** Services with a turn of their own; a mesh offers a handful. Beyond, the oldest begins anew. */
export const turnsMax = 1_000;

/**
 * Candidates in turn, in the order of PeerIds, with a turn of its own for each service. The turn is kept as the
 * last peer asked and not as a number, so it stays fair while candidates come and go.
 */
export class RoundRobinSelector {
  readonly #lastPeers = new Map<string, string>();

  select(candidates: readonly Candidate[]): Candidate {
    assert(candidates.length > 0, "a policy chooses among at least one candidate");
    const { service } = candidates[0];
    const last = this.#lastPeers.get(service);
    const index = last === undefined ? 0 : indexAfter(candidates, last);
    const next = candidates[index === candidates.length ? 0 : index];
    if (last === undefined && this.#lastPeers.size >= turnsMax) {
      this.#lastPeers.delete(this.#lastPeers.keys().next().value!);
    }
    this.#lastPeers.set(service, next.peer);
    return next;
  }
}

/** Place of the first candidate whose PeerId is greater; their number when there is none. */
function indexAfter(candidates: readonly Candidate[], peer: string): number {
  let low = 0;
  let high = candidates.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (candidates[middle].peer > peer) high = middle;
    else low = middle + 1;
  }
  return low;
}
