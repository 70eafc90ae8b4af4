// Does another living process use our key, and which of the two gives way?
//
// An envelope with a foreign run is at first taken for a former life of our own: it is outbid once, and a
// dead process does not answer. One that does answer lives. The later starter gives way after two answers
// of its own, the earlier one speaks up to three times; so each is outbid at most three times.
import type { Ms } from "../base/units.ts";
import { minuteMs, secondMs } from "../base/units.ts";
import type { ClaimOrigin } from "./load_claim.ts";

/** More foreign runs than this at once are forgotten, the oldest first. */
const rivalsMax = 16;
/** A rival that was silent for so long counts anew. */
const rivalKeptMs: Ms = minuteMs;
const outbidsMax = 3;
/** Starts nearer than this cannot be told apart over a network: then the greater run gives way. A guess. */
const startsToldApartMs: Ms = 2 * secondMs;

type Rival = {
  outbidCount: number;
  seenAtMs: Ms;
  /** On our own monotonic clock; the earliest that any of its documents showed. */
  startedAtMs: Ms | undefined;
  host: string;
  isReported: boolean;
};

/** What to do about a rival that answered. */
export type RivalRuling = {
  /** `outbid`: speak up again; `yield`: end this process; `endure`: wait until the other ends. */
  readonly ruling: "outbid" | "yield" | "endure";
  /** Whether a person has not been told of it yet. */
  readonly isNews: boolean;
  readonly otherHost: string;
};

/** What we know of other processes with our key. */
export class Rivals {
  readonly #byRun = new Map<string, Rival>();

  constructor(readonly ownRun: string, readonly startedAtMs: Ms) {}

  /** Whether this run was outbid before and spoke again: a former life of ours could not. */
  isLiving(run: string, nowMs: Ms): boolean {
    return (this.#recent(run, nowMs)?.outbidCount ?? 0) > 0;
  }

  /** Notes that we answered this run. */
  outbid(run: string, nowMs: Ms): void {
    const rival = this.#keep(run, nowMs);
    rival.outbidCount++;
  }

  /** Notes what a document of this run says of its process. */
  described(run: string, origin: ClaimOrigin, nowMs: Ms): void {
    const rival = this.#keep(run, nowMs);
    rival.host = origin.host;
    rival.startedAtMs = Math.min(rival.startedAtMs ?? Infinity, nowMs - origin.uptimeMs);
  }

  /** Decides about a run that answered. */
  judge(run: string, nowMs: Ms): RivalRuling {
    const rival = this.#keep(run, nowMs);
    const isNews = !rival.isReported;
    rival.isReported = true;
    const answer = { isNews, otherHost: rival.host };
    if (this.#isLaterThan(run, rival)) {
      return { ...answer, ruling: rival.outbidCount >= outbidsMax - 1 ? "yield" : "outbid" };
    }
    return { ...answer, ruling: rival.outbidCount >= outbidsMax ? "endure" : "outbid" };
  }

  #isLaterThan(run: string, rival: Rival): boolean {
    const aheadMs = rival.startedAtMs === undefined ? 0 : this.startedAtMs - rival.startedAtMs;
    return Math.abs(aheadMs) < startsToldApartMs ? this.ownRun > run : aheadMs > 0;
  }

  #recent(run: string, nowMs: Ms): Rival | undefined {
    const rival = this.#byRun.get(run);
    return rival && nowMs - rival.seenAtMs <= rivalKeptMs ? rival : undefined;
  }

  #keep(run: string, nowMs: Ms): Rival {
    const rival = this.#recent(run, nowMs) ??
      { outbidCount: 0, seenAtMs: nowMs, startedAtMs: undefined, host: "", isReported: false };
    rival.seenAtMs = nowMs;
    this.#byRun.delete(run); // Moves it to the end: the map's order is the order of last sight.
    this.#byRun.set(run, rival);
    for (const oldest of this.#byRun.keys()) {
      if (this.#byRun.size <= rivalsMax) break;
      this.#byRun.delete(oldest);
    }
    return rival;
  }
}
