// Who of several equals serves the next request?
import type { Random } from "../../base/ports.ts";
import type { Ms } from "../../base/units.ts";
import type { LoadBook } from "../load_book.ts";
import type { Candidate } from "../types.ts";
import type { PrefixIndex } from "../prefix_index.ts";
import { P2cSelector } from "./p2c.ts";
import { PrefixSelector } from "./prefix.ts";
import { RandomSelector } from "./random.ts";
import { RoundRobinSelector } from "./round_robin.ts";
import { ShortestQueueSelector } from "./shortest_queue.ts";

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

/** What policies work with. */
export type SelectorParts = {
  readonly book: LoadBook;
  readonly random: Random;
  /** Absent: everybody gets the same. */
  readonly weightOf?: WeightOf;
  /** What `prefix` remembers. */
  readonly prefixes: PrefixIndex;
};

/** The policy of a name. One selector serves all requests of a node; it may count. */
export function createSelector(
  policy: LbPolicy,
  { book, random, weightOf = weighEqually, prefixes }: SelectorParts,
): Selector {
  switch (policy) {
    case "p2c":
      return new P2cSelector(book, random, weightOf);
    case "prefix":
      return new PrefixSelector(book, prefixes, new P2cSelector(book, random, weightOf), weightOf);
    case "random":
      return new RandomSelector(random, weightOf);
    case "round-robin":
      return new RoundRobinSelector();
    case "shortest-queue":
      return new ShortestQueueSelector(book, random);
  }
}

function weighEqually(): number {
  return 1;
}
