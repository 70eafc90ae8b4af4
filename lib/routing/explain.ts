// Why would a request go where it goes?
import type { PeerId } from "../base/peer_id.ts";
import type { Ms } from "../base/units.ts";
import type { LoadBook } from "./load_book.ts";
import type { Outliers } from "./outliers.ts";
import type { WeightOf } from "./policies/types.ts";
import type { Candidate } from "./types.ts";

/** What decides about one candidate now. */
export type CandidateFacts = {
  readonly peer: PeerId;
  /** Place among the tiers that match, 0 the best. */
  readonly tierIndex: number;
  readonly engine: string;
  /** Requests there: our own, or more when the worker said so lately. */
  readonly load: number;
  readonly inFlight: number;
  /** 0 when unknown. */
  readonly capacity: number;
  /** Average time to the head of an answer; `null` when nothing recent is known. */
  readonly latencyMs: Ms | null;
  readonly weight: number;
  /** What `p2c` compares: the smaller the better; `null` when the candidate is not asked. */
  readonly score: number | null;
  /** In words: why it is asked now, later or not. */
  readonly why: string;
};

/** What the facts are read from. */
export type ExplainParts = {
  readonly book: LoadBook;
  readonly outliers: Outliers;
  readonly weightOf: WeightOf;
  readonly isFull: (candidate: Candidate, nowMs: Ms) => boolean;
};

/**
 * The facts of every candidate, in the order of tiers and then of who would be asked first. Changes nothing.
 * @param tiers As `selectTiers` gave them.
 */
export function explainTiers(
  tiers: readonly (readonly Candidate[])[],
  parts: ExplainParts,
  nowMs: Ms,
): CandidateFacts[] {
  return tiers.flatMap((tier, tierIndex) =>
    tier.map((candidate) => factsOf(candidate, tierIndex, parts, nowMs))
      .sort((a, b) => (a.score ?? Infinity) - (b.score ?? Infinity))
  );
}

function factsOf(
  candidate: Candidate,
  tierIndex: number,
  parts: ExplainParts,
  nowMs: Ms,
): CandidateFacts {
  const { book, weightOf } = parts;
  const load = book.loadCount(candidate, nowMs);
  const latencyMs = book.latencyMs(candidate, nowMs);
  const weight = weightOf(candidate, nowMs);
  const { why, isAsked } = standingOf(candidate, parts, nowMs);
  const waiting = (load + 1) / (candidate.capacity || 1) * ((latencyMs ?? 0) + 1);
  return {
    peer: candidate.peer,
    tierIndex,
    engine: candidate.engine.kind,
    load,
    inFlight: book.inFlightCount(candidate),
    capacity: candidate.capacity,
    latencyMs: latencyMs === undefined ? null : round(latencyMs),
    weight: round(weight),
    score: isAsked && weight > 0 ? round(waiting / weight) : null,
    why,
  };
}

function standingOf(
  candidate: Candidate,
  { book, outliers, isFull }: ExplainParts,
  nowMs: Ms,
): { why: string; isAsked: boolean } {
  if (outliers.isOut(candidate, nowMs)) {
    const seconds = Math.ceil(outliers.restMs(candidate, nowMs) / 1_000);
    return { why: `out: its engine kept failing; next trial in ${seconds} s`, isAsked: false };
  }
  if (isFull(candidate, nowMs)) {
    return { why: `full: runs as many requests as it has places`, isAsked: false };
  }
  if (candidate.isSuspect) return { why: "asked last: it may be gone", isAsked: true };
  if (book.isCoolingDown(candidate, nowMs)) {
    return { why: "asked late: it could not be reached or was busy a moment ago", isAsked: true };
  }
  if (outliers.share(candidate, nowMs) < 1) {
    return { why: "asked, with a small share: it has just returned", isAsked: true };
  }
  return { why: "asked", isAsked: true };
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
