// How well does membership do?
import { type Ms, secondMs } from "../base/units.ts";
import type { Opinion } from "./observer.ts";
import type { World } from "./world.ts";

/** A running, reachable process was called left. */
export type FalseRemoval = {
  readonly atMs: Ms;
  readonly by: number;
  readonly of: number;
  readonly reason: string;
};

/** A promise of protocol §4: nobody frozen for less is called left. */
const frozenMsMin: Ms = 8 * secondMs;
/** News of a start, or of a path that broke or healed, may take so long to be known everywhere. */
const settleMs: Ms = 30 * secondMs;

/** Judges every change of mind by what is true. */
export class Measures {
  readonly falseRemovals: FalseRemoval[] = [];
  /** Running, unfrozen peers that somebody suspected, as nobody heard them. */
  falseSuspicionCount = 0;
  /** From the end of a process to the moment a node says that it has left, for each pair. */
  readonly detectionMs: Ms[] = [];

  constructor(private readonly world: () => World) {}

  add(opinion: Opinion): void {
    const { after } = opinion;
    if (after.status === "left") this.#left(opinion);
    else if (after.status === "suspect" && after.reason === "silent") this.#suspected(opinion);
  }

  #left({ atMs, by, of, after }: Opinion): void {
    const world = this.world();
    const { isUp, isLeaving, startedAtMs, endedAtMs, pausedAtMs } = world.nodes[of];
    if (!isUp || isLeaving) {
      // Whoever starts later learns of an old departure, which is no detection.
      if (world.nodes[by].startedAtMs < endedAtMs) this.detectionMs.push(atMs - endedAtMs);
      return;
    }
    const isFrozen = world.nodes[of].isPaused(atMs) && atMs - pausedAtMs >= frozenMsMin;
    const isOldNews = startedAtMs > 0 && atMs - startedAtMs < settleMs;
    const { network } = world;
    if (isFrozen || isOldNews || network.isBroken || atMs - network.changedAtMs < settleMs) return;
    this.falseRemovals.push({ atMs, by, of, reason: after.reason });
  }

  #suspected({ atMs, of }: Opinion): void {
    const node = this.world().nodes[of];
    if (node.isUp && !node.isPaused(atMs)) this.falseSuspicionCount++;
  }
}

/** The value below which a share of all values lies; `NaN` of none. @param sorted Ascending. */
export function quantile(sorted: readonly number[], share: number): number {
  if (sorted.length === 0) return NaN;
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)];
}
