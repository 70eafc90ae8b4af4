// What is a way to choose among candidates?
import type { Ms } from "../../base/units.ts";
import type { Candidate } from "../types.ts";

/** The policies by the names that configuration uses. */
export type LbPolicy = "p2c" | "prefix" | "random" | "round-robin" | "shortest-queue";

/** What a request begins with: one number for each block, which stands for all blocks up to it. See `blocksOf`. */
export type PromptBlocks = readonly number[];

/**
 * How much of the requests a candidate should get beside the others: 1 is usual, 2 twice as much, 0 none while
 * others are there.
 */
export type WeightOf = (candidate: Candidate, nowMs: Ms) => number;

/** A way to choose among candidates that match equally well. */
export interface Selector {
  /**
   * @param candidates One or more, each peer once, in the order of PeerIds; not changed.
   * @param nowMs Monotonic.
   * @param blocks Absent when nobody asked for them.
   * @returns One of them.
   */
  select(candidates: readonly Candidate[], nowMs: Ms, blocks?: PromptBlocks): Candidate;
}
