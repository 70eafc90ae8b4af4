// Whom does one request ask next?
import type { PeerId } from "../base/peer_id.ts";
import type { Ms } from "../base/units.ts";
import type { LoadBook } from "./load_book.ts";
import type { Outliers } from "./outliers.ts";
import type { PromptBlocks, Selector } from "./policies/types.ts";
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
  /** Engines that keep failing are not asked; absent: nobody judges. */
  readonly outliers?: Outliers;
  /** Whether the candidate has no room for one more request; absent: there is always room. */
  readonly isFull?: (candidate: Candidate, nowMs: Ms) => boolean;
  /** What the request begins with, for policies that mind. */
  readonly blocks?: PromptBlocks;
};

/** Why nobody is asked although the attempts are not used up. */
export type Blocked =
  /** Nobody is left. */
  | "nobody"
  /** Somebody is left but has no room; later there may be some. */
  | "full"
  /** Who is left keeps failing and rests. */
  | "out";

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
  #unreachedCount = 0;
  #blocked: Blocked = "nobody";
  #mayOverfill = false;
  #isClosed = false;

  constructor(plan: AttemptsPlan) {
    this.#plan = plan;
  }

  /** Attempts made so far. */
  get count(): number {
    return this.#tried.length;
  }

  /** After `next` has found nobody: why. */
  get blocked(): Blocked {
    return this.#blocked;
  }

  /** Nobody is asked any more. */
  close(): void {
    this.#isClosed = true;
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
   * @returns `undefined` when the attempts are used up or nobody can be asked; see `blocked`.
   */
  next(nowMs: Ms): Attempt | undefined {
    const { tiers, limits } = this.#plan;
    const attemptsMax = limits.isEnabled ? 1 + limits.retriesMax : 1;
    this.#blocked = "nobody";
    if (this.#isClosed) return undefined;
    if (this.#tried.length - this.#unreachedCount >= attemptsMax) return undefined;
    // From the best tier each time: who had no room there may have some now.
    for (let tierIndex = 0; tierIndex < tiers.length; tierIndex++) {
      const attempt = this.#nextOf(tierIndex, tiers[tierIndex], nowMs);
      if (attempt) return attempt;
    }
    return undefined;
  }

  /**
   * Who goes on with what an earlier attempt began: of the same tier, and never somebody asked before; who has no
   * room is asked last, since a stream that began must not wait. Does not count against the retries; how often a
   * stream may be continued is `decideContinuation`'s.
   * @param accepts Which candidates can go on.
   */
  nextLike(
    earlier: Attempt,
    accepts: (candidate: Candidate) => boolean,
    nowMs: Ms,
  ): Attempt | undefined {
    this.#blocked = "nobody";
    this.#mayOverfill = true;
    const tier = this.#plan.tiers[earlier.tierIndex].filter(accepts);
    return this.#nextOf(earlier.tierIndex, tier, nowMs);
  }

  #nextOf(tierIndex: number, tier: readonly Candidate[], nowMs: Ms): Attempt | undefined {
    const candidate = this.#choose(tier, nowMs);
    if (!candidate) return undefined;
    this.#plan.outliers?.chosen(candidate);
    this.#tried.push(candidate.peer);
    return { candidate, number: this.#tried.length, tierIndex };
  }

  #choose(tier: readonly Candidate[], nowMs: Ms): Candidate | undefined {
    let bestRank = Infinity;
    let bestCount = 0;
    for (const candidate of tier) {
      const rank = this.#rankOf(candidate, nowMs);
      if (rank > bestRank || rank >= barred) continue;
      bestCount = rank < bestRank ? 1 : bestCount + 1;
      bestRank = rank;
    }
    if (bestCount === 0) return undefined;
    // Usually everybody is equally good, and the view's own list serves without a copy.
    const best = bestCount === tier.length
      ? tier
      : tier.filter((candidate) => this.#rankOf(candidate, nowMs) === bestRank);
    return this.#plan.isOrdered
      ? best[0]
      : this.#plan.selector.select(best, nowMs, this.#plan.blocks);
  }

  #rankOf(candidate: Candidate, nowMs: Ms): number {
    if (this.#tried.length > 0 && this.#tried.includes(candidate.peer)) return barred;
    if (this.#plan.outliers?.isOut(candidate, nowMs)) {
      if (this.#blocked === "nobody") this.#blocked = "out";
      return barred;
    }
    if (this.#plan.isFull?.(candidate, nowMs)) {
      if (this.#mayOverfill) return 3;
      this.#blocked = "full";
      return barred;
    }
    const suspicion = candidate.isSuspect ? 2 : 0;
    return suspicion + (this.#plan.book.isCoolingDown(candidate, nowMs) ? 1 : 0);
  }
}

/** Worse than every rank: not asked now. */
const barred = 4;
