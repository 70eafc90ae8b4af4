// How does pure chance choose?
import { assert } from "../../base/assert.ts";
import type { Random } from "../../base/ports.ts";
import type { Candidate } from "../types.ts";

/** A whole number in [0, count), uniform. */
export function drawIndex(random: Random, count: number): number {
  return Math.floor(random() * count);
}

/** Uniform, without memory. */
export class RandomSelector {
  constructor(private readonly random: Random) {}

  select(candidates: readonly Candidate[]): Candidate {
    assert(candidates.length > 0, "a policy chooses among at least one candidate");
    return candidates[drawIndex(this.random, candidates.length)];
  }
}
