// Whom does one request ask next?
import type { PeerId } from "../base/peer_id.ts";
import type { Ms } from "../base/units.ts";
import type { LoadBook } from "./load_book.ts";
import type { Selector } from "./policies/selector.ts";
import type { Candidate } from "./types.ts";

/**
 * Attempts that reached nobody and so count for nothing, in one request: with a handful of dead peers among many
 * a request still finds a living one (weaknesses 41). A guess; a dial's own deadline bounds the time.
 */
export const unreachedAttemptsMax = 10;

/** How often one request may be tried. */
export type RetryLimits = {
  /** Off: one attempt, whether it reached anybody or not. */
  readonly isEnabled: boolean;
  /** Attempts after the first that reach a worker. */
  readonly retriesMax: number;
};

/** What the attempts of one request are made of; see `selectTiers`. */
export type AttemptsPlan = {
  readonly tiers: readonly (readonly Candidate[])[];
  /** The order within a tier is the client's wish: the policy is not asked. */
  readonly isOrdered: boolean;
  readonly selector: Selector;
  readonly book: LoadBook;
  readonly limits: RetryLimits;
};

/** One forward of the request. */
export type Attempt = {
  readonly candidate: Candidate;
  /** Counted from 1. */
  readonly number: number;
  /** Place among the plan's tiers, 0 the best. */
  readonly tierIndex: number;
};

/**
 * The attempts of one request, in order: every peer at most once; the better tier first, a worse one when it is
 * exhausted; within a tier first who is alive, then who could not be reached a moment ago, suspects last.
 * Deciding whether to try again is `decideRetry`'s.
 */
export class Attempts {
  readonly #plan: AttemptsPlan;
  readonly #tried: PeerId[] = [];
  #tierIndex = 0;
  #unreachedCount = 0;

  constructor(plan: AttemptsPlan) {
    this.#plan = plan;
  }

  /** Attempts made so far. */
  get count(): number {
    return this.#tried.length;
  }

  /** Nothing of the last attempt left this node (phase `not_sent`): it does not use up a retry. */
  unreached(): void {
    if (this.#plan.limits.isEnabled && this.#unreachedCount < unreachedAttemptsMax) {
      this.#unreachedCount++;
    }
  }

  /**
   * The next attempt.
   * @param nowMs Monotonic.
   * @returns `undefined` when the attempts are used up or nobody is left.
   */
  next(nowMs: Ms): Attempt | undefined {
    const { tiers, limits } = this.#plan;
    const attemptsMax = limits.isEnabled ? 1 + limits.retriesMax : 1;
    if (this.#tried.length - this.#unreachedCount >= attemptsMax) return undefined;
    for (; this.#tierIndex < tiers.length; this.#tierIndex++) {
      const candidate = this.#choose(tiers[this.#tierIndex], nowMs);
      if (!candidate) continue;
      this.#tried.push(candidate.peer);
      return { candidate, number: this.#tried.length, tierIndex: this.#tierIndex };
    }
    return undefined;
  }

  #choose(tier: readonly Candidate[], nowMs: Ms): Candidate | undefined {
    let bestRank = Infinity;
    let bestCount = 0;
    for (const candidate of tier) {
      const rank = this.#rankOf(candidate, nowMs);
      if (rank > bestRank || rank === tried) continue;
      bestCount = rank < bestRank ? 1 : bestCount + 1;
      bestRank = rank;
    }
    if (bestCount === 0) return undefined;
    // Usually everybody is equally good, and the view's own list serves without a copy.
    const best = bestCount === tier.length
      ? tier
      : tier.filter((candidate) => this.#rankOf(candidate, nowMs) === bestRank);
    return this.#plan.isOrdered ? best[0] : this.#plan.selector.select(best, nowMs);
  }

  #rankOf(candidate: Candidate, nowMs: Ms): number {
    if (this.#tried.length > 0 && this.#tried.includes(candidate.peer)) return tried;
    const suspicion = candidate.isSuspect ? 2 : 0;
    return suspicion + (this.#plan.book.isCoolingDown(candidate, nowMs) ? 1 : 0);
  }
}

/** Worse than every rank: never again in this request. */
const tried = 4;
