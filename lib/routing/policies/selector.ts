// Who of several equals serves the next request?
import type { Random } from "../../base/ports.ts";
import type { Ms } from "../../base/units.ts";
import type { LoadBook } from "../load_book.ts";
import type { Candidate } from "../types.ts";
import { P2cSelector } from "./p2c.ts";
import { RandomSelector } from "./random.ts";
import { RoundRobinSelector } from "./round_robin.ts";
import { ShortestQueueSelector } from "./shortest_queue.ts";

/** The policies by the names that configuration uses. */
export type LbPolicy = "p2c" | "random" | "round-robin" | "shortest-queue";

/** A way to choose among candidates that match equally well. */
export interface Selector {
  /**
   * @param candidates One or more, each peer once, in the order of PeerIds; not changed.
   * @param nowMs Monotonic.
   * @returns One of them.
   */
  select(candidates: readonly Candidate[], nowMs: Ms): Candidate;
}

/** The policy of a name. One selector serves all requests of a node; it may count. */
export function createSelector(
  policy: LbPolicy,
  { book, random }: { book: LoadBook; random: Random },
): Selector {
  switch (policy) {
    case "p2c":
      return new P2cSelector(book, random);
    case "random":
      return new RandomSelector(random);
    case "round-robin":
      return new RoundRobinSelector();
    case "shortest-queue":
      return new ShortestQueueSelector(book, random);
  }
}
