// Who has this prompt in its cache already?
import { assert } from "../../base/assert.ts";
import type { PeerId } from "../../base/peer_id.ts";
import type { Ms } from "../../base/units.ts";
import type { LoadBook } from "../load_book.ts";
import type { PrefixIndex } from "../prefix_index.ts";
import type { Candidate } from "../types.ts";
import type { PromptBlocks, Selector, WeightOf } from "./types.ts";

/** A holder with more than so many times the mean load, and `slackCount` more, is overloaded. A guess. */
export const overloadRatio = 1.5;
/** Requests above the mean that never count as overload: small numbers scatter. A guess. */
export const slackCount = 4;
/** Beginnings counted until all counts are halved, so that what was long ago weighs little. A guess. */
const beginningsMax = 4_096;
/** Peers counted; the claims of an open mesh (protocol §1). Beyond it all begin anew. */
const peersMax = 10_000;

/**
 * Sends what begins like an earlier request to the worker that served that one, whose engine need not read it
 * again. What begins a conversation, or has in common only what many have (a system prompt), goes to the worker
 * that was given the fewest beginnings, so that caches fill evenly. An overloaded worker is passed over: waiting
 * costs more than reading.
 */
export class PrefixSelector implements Selector {
  readonly #beginnings = new Map<PeerId, number>();
  #beginningCount = 0;

  constructor(
    private readonly book: LoadBook,
    private readonly index: PrefixIndex,
    private readonly otherwise: Selector,
    private readonly weightOf: WeightOf,
  ) {}

  select(candidates: readonly Candidate[], nowMs: Ms, blocks?: PromptBlocks): Candidate {
    assert(candidates.length > 0, "a policy chooses among at least one candidate");
    if (blocks === undefined || blocks.length === 0 || candidates.length === 1) {
      return this.otherwise.select(candidates, nowMs);
    }
    const { holders, isShared } = this.index.match(blocks);
    const holder = isShared ? undefined : this.#holderOf(candidates, holders, nowMs);
    const chosen = holder ?? this.#begin(candidates, nowMs);
    this.index.served(blocks, chosen.peer);
    return chosen;
  }

  /** The latest holder that is a candidate and not overloaded. */
  #holderOf(
    candidates: readonly Candidate[],
    holders: readonly PeerId[],
    nowMs: Ms,
  ): Candidate | undefined {
    for (const peer of holders) {
      const candidate = candidates.find((one) => one.peer === peer);
      if (candidate && !this.#isOverloaded(candidate, candidates, nowMs)) return candidate;
    }
    return undefined;
  }

  #isOverloaded(candidate: Candidate, all: readonly Candidate[], nowMs: Ms): boolean {
    const load = this.book.loadCount(candidate, nowMs);
    if (load <= slackCount) return false;
    let total = 0;
    let weights = 0;
    for (const one of all) {
      total += this.book.loadCount(one, nowMs);
      weights += this.weightOf(one, nowMs);
    }
    const fairLoad = weights === 0 ? 0 : total * this.weightOf(candidate, nowMs) / weights;
    return load > overloadRatio * fairLoad + slackCount;
  }

  /** Gives a beginning to who has the fewest by weight. */
  #begin(candidates: readonly Candidate[], nowMs: Ms): Candidate {
    this.#welcome(candidates);
    let best: Candidate | undefined;
    let bestCost = Infinity;
    for (const candidate of candidates) {
      if (this.#isOverloaded(candidate, candidates, nowMs)) continue;
      const cost = (this.#beginnings.get(candidate.peer)! + 1) / this.weightOf(candidate, nowMs);
      if (cost >= bestCost) continue;
      best = candidate;
      bestCost = cost;
    }
    const chosen = best ?? this.otherwise.select(candidates, nowMs);
    this.#beginnings.set(chosen.peer, this.#beginnings.get(chosen.peer)! + 1);
    this.#halveAtTimes();
    return chosen;
  }

  /** Who is new starts with what the least busy has, or it would get every conversation for a while. */
  #welcome(candidates: readonly Candidate[]): void {
    let fewest = Infinity;
    let newCount = 0;
    for (const { peer } of candidates) {
      const count = this.#beginnings.get(peer);
      if (count === undefined) newCount++;
      else fewest = Math.min(fewest, count);
    }
    if (newCount === 0) return;
    if (this.#beginnings.size + newCount > peersMax) this.#beginnings.clear();
    for (const { peer } of candidates) {
      if (!this.#beginnings.has(peer)) this.#beginnings.set(peer, fewest === Infinity ? 0 : fewest);
    }
  }

  #halveAtTimes(): void {
    if (++this.#beginningCount < beginningsMax) return;
    this.#beginningCount = 0;
    for (const [peer, count] of this.#beginnings) this.#beginnings.set(peer, count / 2);
  }
}
