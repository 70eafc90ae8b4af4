// When does nobody notice that a heap is collected?
import { type Bytes, MiB, type Ms, secondMs } from "../base/units.ts";

/** What a thread has done so far; a turn of the numbers means that it is at work. */
export type ThreadWork = {
  /** Running now. */
  readonly openCount: number;
  /** Begun since the start. */
  readonly startedCount: number;
};

/** What a start has left behind is collected once more when a large mesh may have been learnt. A guess. */
const secondAfterMs: Ms = 15 * secondMs;
/** Worth a pause of some 50 ms, even of a thread that rests; above what a full young generation comes to. A guess. */
const growthMin: Bytes = 32 * MiB;

/**
 * V8 collects when it needs memory: in the middle of a burst, where each pause holds up hundreds of streams, and
 * never while a node idles, so that sources, decoders and tables of the start stayed for hours (20 MB of a worker's
 * 165, and 55 KB of each of 2,000 peers that were learnt with it). So we collect between bursts.
 */
export class GarbagePlan {
  private last: ThreadWork | undefined;
  private collections = 0;
  private afterBytes: Bytes = 0;

  constructor(private readonly startedAtMs: Ms) {}

  /** To be asked every few seconds. @returns Whether to collect now. */
  isDue(work: ThreadWork, heapBytes: Bytes, nowMs: Ms): boolean {
    const hasRested = this.last !== undefined && work.openCount === 0 &&
      this.last.openCount === 0 && this.last.startedCount === work.startedCount;
    this.last = work;
    if (!hasRested) return false;
    if (this.collections === 0) return true;
    if (this.collections === 1 && nowMs - this.startedAtMs >= secondAfterMs) return true;
    return heapBytes - this.afterBytes >= growthMin;
  }

  /** @param heapBytes What was left. */
  collected(heapBytes: Bytes): void {
    this.collections++;
    this.afterBytes = heapBytes;
  }
}
