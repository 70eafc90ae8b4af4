// Who of several equals serves the next request?
import type { Random } from "../../base/ports.ts";
import type { LoadBook } from "../load_book.ts";
import type { PrefixIndex } from "../prefix_index.ts";
import { P2cSelector } from "./p2c.ts";
import { PrefixSelector } from "./prefix.ts";
import { RandomSelector } from "./random.ts";
import { RoundRobinSelector } from "./round_robin.ts";
import { ShortestQueueSelector } from "./shortest_queue.ts";
import type { LbPolicy, Selector, WeightOf } from "./types.ts";

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
