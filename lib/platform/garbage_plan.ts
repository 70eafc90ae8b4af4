// When does nobody notice that a heap is collected?
import { type Bytes, MiB, minuteMs, type Ms, secondMs } from "../base/units.ts";

/** What a thread has done so far; a turn of the numbers means that it is at work. */
export type ThreadWork = {
  /** Running now. */
  readonly openCount: number;
  /** Begun since the start. */
  readonly startedCount: number;
};

/** Work from which on code is warm: V8 optimizes what was called a few hundred times. */
const warmCountMin = 500;
/** So long the numbers must stand still while code is cold; two looks. A guess. */
const restMsMin: Ms = secondMs;
/** What a start has left behind is collected once more when a large mesh may have been learnt. A guess. */
const secondAfterMs: Ms = 15 * secondMs;
/** Who has rested so long is likely to rest on. A guess. */
const longRestMsMin: Ms = minuteMs;
/** Worth a thread whose code is cold for the next second of work; above what a full young generation comes to. A guess. */
const growthMin: Bytes = 64 * MiB;

/**
 * V8 collects when it needs memory, and an idle node never does: sources, decoders and tables of the start stayed for
 * hours (20 MB of a worker's 165, and 55 KB of each of 2,000 peers that were learnt with it). So we ask for it, but of
 * a thread that has worked much only after a long rest and for much: unlike V8's own collections, one that is asked
 * for does not keep the shapes of objects of which none is alive, and with them goes the optimized code that knows
 * them. The next second of requests then costs twice as much.
 */
export class GarbagePlan {
  private lastCount = -1;
  private restsSinceMs: Ms = 0;
  private collections = 0;
  private afterBytes: Bytes = 0;

  constructor(private readonly startedAtMs: Ms) {}

  /** To be asked every second. @returns Whether to collect now. */
  isDue(work: ThreadWork, heapBytes: Bytes, nowMs: Ms): boolean {
    const rests = work.openCount === 0 && work.startedCount === this.lastCount;
    if (!rests) this.restsSinceMs = nowMs;
    this.lastCount = work.startedCount;
    const restMs = nowMs - this.restsSinceMs;
    if (work.startedCount >= warmCountMin) {
      return restMs >= longRestMsMin && heapBytes - this.afterBytes >= growthMin;
    }
    if (restMs < restMsMin) return false;
    return this.collections === 0 ||
      this.collections === 1 && nowMs - this.startedAtMs >= secondAfterMs;
  }

  /** @param heapBytes What was left. */
  collected(heapBytes: Bytes): void {
    this.collections++;
    this.afterBytes = heapBytes;
  }
}
