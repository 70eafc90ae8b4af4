// Does membership keep its promises while things go wrong, and does everybody agree afterwards?
import { minuteMs, type Ms, secondMs } from "../base/units.ts";
import { disagreement } from "./agreement.ts";
import { type Faults, scheduleFaults, skewMs } from "./faults.ts";
import { Measures, quantile } from "./measures.ts";
import { nameOf } from "./observer.ts";
import { modelRegistries } from "./registries.ts";
import { type MakeRegistry, World } from "./world.ts";

export type SimulationOptions = {
  readonly nodeCount: number;
  readonly seed: number;
  readonly faults: Faults;
  /** Length of the act with faults. */
  readonly actMs: Ms;
  /** The real one for small worlds; the model when not given. */
  readonly makeRegistry?: MakeRegistry;
  /** Told now and then how much of the first act is over, from 0 to 1. */
  readonly onProgress?: (share: number) => void;
};

/** What came of it; times in milliseconds, `NaN` where nothing was measured. */
export type SimulationResult = {
  readonly nodeCount: number;
  readonly seed: number;
  readonly virtualMs: Ms;
  readonly stepCount: number;
  readonly detectionCount: number;
  readonly detectionP50Ms: Ms;
  readonly detectionP99Ms: Ms;
  readonly detectionMaxMs: Ms;
  readonly falseRemovalCount: number;
  readonly falseSuspicionCount: number;
  readonly messagesPerNodeSecond: number;
  readonly bytesPerNodeSecond: number;
  /** Of the second act. */
  readonly convergenceMs: Ms;
  /** Broken promises in words, the seed first; empty when all were kept. */
  readonly violations: readonly string[];
};

/** Everybody must agree so soon after the last fault. */
export const convergenceMsMax: Ms = 30 * secondMs;
const lookEveryMs: Ms = 250;
const traceLinesMax = 60;
const headShare = 0.01;

/** Two acts: faults while safety holds, then calm in which everything converges. Equal options give equal results. */
export function simulate(options: SimulationOptions): SimulationResult {
  const { nodeCount, seed, faults, actMs } = options;
  const measures: Measures = new Measures(() => world);
  const world: World = new World({
    seed,
    nodeCount,
    headCount: Math.max(1, Math.min(3, Math.round(headShare * nodeCount))),
    network: {
      latencyMs: { min: 0.5, max: 40 },
      lossRate: faults.loss,
      duplicateRate: faults.dup,
      reorderRate: faults.reorder,
    },
    clockSkewMs: skewMs(faults),
    makeRegistry: options.makeRegistry ?? modelRegistries(nodeCount),
    onOpinion: (opinion) => measures.add(opinion),
  });
  scheduleFaults(world, faults, actMs);
  const stepMs = Math.max(secondMs, actMs / 100);
  for (let doneMs = 0; doneMs < actMs; doneMs += stepMs) {
    world.runForMs(Math.min(stepMs, actMs - doneMs));
    options.onProgress?.(Math.min(1, (doneMs + stepMs) / actMs));
  }
  const sentCount = world.nodes.reduce((sum, node) => sum + node.sentCount, 0);
  const bytes = world.nodes.reduce((sum, node) => sum + node.sentBytes + node.receivedBytes, 0);
  const convergenceMs = calm(world);
  const sorted = measures.detectionMs.sort((a, b) => a - b);
  const nodeSeconds = nodeCount * actMs / secondMs;
  return {
    nodeCount,
    seed,
    virtualMs: world.nowMs,
    stepCount: world.timeline.stepCount,
    detectionCount: sorted.length,
    detectionP50Ms: quantile(sorted, 0.5),
    detectionP99Ms: quantile(sorted, 0.99),
    detectionMaxMs: quantile(sorted, 1),
    falseRemovalCount: measures.falseRemovals.length,
    falseSuspicionCount: measures.falseSuspicionCount,
    messagesPerNodeSecond: sentCount / nodeSeconds,
    bytesPerNodeSecond: bytes / nodeSeconds,
    convergenceMs,
    violations: violationsOf(world, measures, convergenceMs, seed),
  };
}

/** The second act. @returns How long it took until everybody agreed; `NaN` when they never did. */
function calm(world: World): Ms {
  world.say("all faults end");
  world.network.faults = { ...world.network.faults, lossRate: 0, duplicateRate: 0, reorderRate: 0 };
  world.network.heal(world.nowMs);
  for (const node of world.nodes) world.resume(node);
  const startMs = world.nowMs;
  while (world.nowMs - startMs <= convergenceMsMax) {
    if (disagreement(world) === undefined) return world.nowMs - startMs;
    world.runForMs(lookEveryMs);
  }
  return NaN;
}

function violationsOf(world: World, measures: Measures, convergenceMs: Ms, seed: number): string[] {
  const violations: string[] = [];
  for (const { atMs, by, of, reason } of measures.falseRemovals.slice(0, 3)) {
    const trace = world.trace.lines(traceLinesMax, of).join("\n");
    const minutes = (atMs / minuteMs).toFixed(2);
    violations.push(
      `seed ${seed}: ${nameOf(by)} called ${
        nameOf(of)
      } left (${reason}) after ${minutes} min, which was running\n${trace}`,
    );
  }
  if (Number.isNaN(convergenceMs)) {
    const trace = world.trace.lines(traceLinesMax).join("\n");
    violations.push(
      `seed ${seed}: no agreement after ${convergenceMsMax} ms: ${disagreement(world)}\n${trace}`,
    );
  }
  return violations;
}
