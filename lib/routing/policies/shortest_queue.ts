// Who has the fewest requests of this node?
import { assert } from "../../base/assert.ts";
import type { Random } from "../../base/ports.ts";
import type { LoadBook } from "../load_book.ts";
import type { Candidate } from "../types.ts";
import { drawIndex } from "./random.ts";

/** The candidate with the fewest requests in flight from this node, by chance among several. Linear. */
export class ShortestQueueSelector {
  constructor(private readonly book: LoadBook, private readonly random: Random) {}

  select(candidates: readonly Candidate[]): Candidate {
    assert(candidates.length > 0, "a policy chooses among at least one candidate");
    let best = candidates[0];
    let bestCount = Infinity;
    let tieCount = 0;
    for (const candidate of candidates) {
      const count = this.book.inFlightCount(candidate);
      if (count > bestCount) continue;
      tieCount = count < bestCount ? 1 : tieCount + 1;
      bestCount = count;
      // The n-th of n ties replaces the others with chance 1/n, so in the end all are equally likely.
      if (tieCount === 1 || drawIndex(this.random, tieCount) === 0) best = candidate;
    }
    return best;
  }
}
