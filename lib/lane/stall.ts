// Is the other side of a lane still there?
import type { Ms } from "../base/units.ts";

/** Source of the numbers: protocol, "Lanes"; a frozen worker is harmless after 2 s and given up after 4 s. */
export const stallLimits = { pingAfterMs: 1_000, avoidAfterMs: 2_000, failAfterMs: 4_000 } as const;
/** A tick that late means that we were frozen ourselves: we blame nobody for what we missed. */
const lateTickMs: Ms = 1_000;

/** What silence means for a lane that has exchanges open. */
export type StallVerdict = "fine" | "ping" | "avoid" | "fail";

/** Judges one lane by silence while somebody waits; the caller ticks it a few times a second. */
export class StallWatch {
  private heardAtMs: Ms;
  private tickedAtMs: Ms;
  private verdict: StallVerdict = "fine";

  constructor(nowMs: Ms) {
    this.heardAtMs = nowMs;
    this.tickedAtMs = nowMs;
  }

  /** Any frame arrived, or the first exchange of an idle lane was opened. */
  heard(nowMs: Ms): void {
    this.heardAtMs = nowMs;
    this.verdict = "fine";
  }

  /** @param openCount Exchanges that wait for the other side. */
  tick(nowMs: Ms, openCount: number): StallVerdict {
    const wasLate = nowMs - this.tickedAtMs > lateTickMs;
    this.tickedAtMs = nowMs;
    if (openCount === 0 || wasLate) this.heard(nowMs);
    else this.verdict = judge(nowMs - this.heardAtMs);
    return this.verdict;
  }

  get isAvoided(): boolean {
    return this.verdict === "avoid" || this.verdict === "fail";
  }
}

function judge(silentMs: Ms): StallVerdict {
  if (silentMs >= stallLimits.failAfterMs) return "fail";
  if (silentMs >= stallLimits.avoidAfterMs) return "avoid";
  return silentMs >= stallLimits.pingAfterMs ? "ping" : "fine";
}
