// How does pure chance choose?
import { assert } from "../../base/assert.ts";
import type { Random } from "../../base/ports.ts";
import type { Ms } from "../../base/units.ts";
import type { Candidate } from "../types.ts";
import type { WeightOf } from "./types.ts";

/** A whole number in [0, count), uniform. */
export function drawIndex(random: Random, count: number): number {
  return Math.floor(random() * count);
}

/** By weight, without memory: uniform where all weigh the same. Linear. */
export class RandomSelector {
  constructor(private readonly random: Random, private readonly weightOf: WeightOf) {}

  select(candidates: readonly Candidate[], nowMs: Ms): Candidate {
    assert(candidates.length > 0, "a policy chooses among at least one candidate");
    let total = 0;
    for (const candidate of candidates) total += this.weightOf(candidate, nowMs);
    if (total === 0) return candidates[drawIndex(this.random, candidates.length)];
    let left = this.random() * total;
    for (const candidate of candidates) {
      left -= this.weightOf(candidate, nowMs);
      if (left < 0) return candidate;
    }
    return candidates[candidates.length - 1]; // Where rounding left a little.
  }
}
