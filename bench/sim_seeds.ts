// Does membership keep its promises in a hundred different worlds?
import { minuteMs } from "../lib/base/units.ts";
import { startAutomerge } from "../lib/registry/automerge.ts";
import { parseFaults } from "../lib/sim/faults.ts";
import { realRegistries } from "../lib/sim/registries.ts";
import { simulate } from "../lib/sim/simulate.ts";
import type { BenchOptions } from "./rig/options.ts";
import type { Report } from "./rig/report.ts";

const nodeCount = 300;
/** Real registries in worlds of this size, as the same number of 300 would not fit into the time. */
const realNodeCount = 40;

/** Which faults a seed meets: each alone, and all together. */
const mixes: readonly string[] = [
  "churn=0.5",
  "wave,loss",
  "leave,dup,reorder",
  "partition",
  "oneway,loss",
  "crash=0.5",
  "pause=0.1,loss=0.1",
  "churn,wave,leave,crash,pause,loss,dup,reorder,skew",
  "partition,churn,loss,skew",
  "partition=0.1,pause,dup",
];

/** A hundred seeds of 300 nodes for a minute each. */
export async function benchSimSeeds(options: BenchOptions, report: Report): Promise<void> {
  const seedCount = options.rounds ?? (options.isSmall ? 10 : 100);
  await startAutomerge();
  const startMs = performance.now();
  let brokenCount = 0;
  const slowest: Record<string, number> = {};
  for (let seed = 1; seed <= seedCount; seed++) {
    const mix = mixes[seed % mixes.length];
    const isReal = seed % 10 === 1 + Math.floor(seed / 10) % 10;
    const count = isReal ? realNodeCount : nodeCount;
    const result = simulate({
      nodeCount: count,
      seed,
      faults: parseFaults(mix),
      actMs: minuteMs,
      ...(isReal ? { makeRegistry: realRegistries(count, seed) } : {}),
    });
    slowest[mix] = Math.max(slowest[mix] ?? 0, result.convergenceMs);
    brokenCount += result.violations.length;
    for (const violation of result.violations) report.note(`${mix}, ${count} nodes: ${violation}`);
  }
  for (const [mix, converge_ms] of Object.entries(slowest)) report.row({ mix, converge_ms });
  const seconds = (performance.now() - startMs) / 1000;
  report.judge(`broken promises in ${seedCount} worlds`, brokenCount, "=", 0);
  report.judge(
    "seconds for 100 worlds",
    seconds * 100 / seedCount,
    "<=",
    options.isSmall ? 480 : 120,
  );
}
