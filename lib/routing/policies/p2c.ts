// How do two draws find somebody who is not busy?
import { assert } from "../../base/assert.ts";
import type { Random } from "../../base/ports.ts";
import type { Ms } from "../../base/units.ts";
import type { LoadBook } from "../load_book.ts";
import type { Candidate } from "../types.ts";
import { drawIndex } from "./random.ts";
import type { WeightOf } from "./types.ts";

/**
 * The less busy of two different random candidates. With n requests on n workers the deepest queue is
 * O(log log n); one draw gives O(log n / log log n), and a full scan sends every head to the same idle worker.
 * O(1). Source: Mitzenmacher, IEEE TPDS 12(10), 2001.
 */
export class P2cSelector {
  constructor(
    private readonly book: LoadBook,
    private readonly random: Random,
    private readonly weightOf: WeightOf,
  ) {}

  select(candidates: readonly Candidate[], nowMs: Ms): Candidate {
    assert(candidates.length > 0, "a policy chooses among at least one candidate");
    if (candidates.length === 1) return candidates[0];
    const firstIndex = drawIndex(this.random, candidates.length);
    const otherIndex = drawIndex(this.random, candidates.length - 1);
    const first = candidates[firstIndex];
    const second = candidates[otherIndex < firstIndex ? otherIndex : otherIndex + 1];
    return this.#isBusier(first, second, nowMs) ? second : first;
  }

  /**
   * Expected waiting: requests there, per place where both say how many they have, times latency where both
   * are known. What only one of them says cannot be compared and does not count. All of it by weight.
   */
  #isBusier(first: Candidate, second: Candidate, nowMs: Ms): boolean {
    let firstCost = this.book.loadCount(first, nowMs) + 1;
    let secondCost = this.book.loadCount(second, nowMs) + 1;
    if (first.capacity > 0 && second.capacity > 0) {
      firstCost /= first.capacity;
      secondCost /= second.capacity;
    }
    const firstMs = this.book.latencyMs(first, nowMs);
    const secondMs = this.book.latencyMs(second, nowMs);
    if (firstMs !== undefined && secondMs !== undefined) {
      // A millisecond more keeps differences below the clock's grain from deciding over load.
      firstCost *= firstMs + 1;
      secondCost *= secondMs + 1;
    }
    // Multiplied crosswise, so that a weight of 0 loses against everybody without a division by it.
    return firstCost * this.weightOf(second, nowMs) > secondCost * this.weightOf(first, nowMs);
  }
}
