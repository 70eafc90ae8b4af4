// How much better than chance do the policies spread requests, in virtual time?
import { parsePeerId } from "../lib/base/peer_id.ts";
import { LoadBook } from "../lib/routing/load_book.ts";
import { createSelector } from "../lib/routing/policies/selector.ts";
import type { LbPolicy } from "../lib/routing/policies/types.ts";
import { PrefixIndex } from "../lib/routing/prefix_index.ts";
import type { Candidate } from "../lib/routing/types.ts";
import { seededRandom } from "../lib/sim/seeded_random.ts";
import { percentile } from "./load/percentile.ts";
import type { Report } from "./rig/report.ts";

/** Requests per second that each worker can do, one at a time. */
const speeds = [10, 20, 40];
const loadShare = 0.8;
const seconds = 60;
const seeds = [1, 2, 3];

/**
 * The real policies on workers of virtual time: exact, equal for equal seeds, and nothing else slows them. Each
 * worker serves in order; times of service scatter as an exponential distribution.
 */
export function simulateBalance(ratioMax: number, report: Report): void {
  for (const seed of seeds) {
    const times = new Map<LbPolicy, number>();
    for (const policy of ["random", "round-robin", "shortest-queue", "p2c"] as const) {
      const measured = simulate(policy, seed);
      const p99 = percentile(measured, 0.99);
      times.set(policy, p99);
      report.row({
        seed,
        policy,
        requests: measured.length,
        p50_ms: percentile(measured, 0.5),
        p99_ms: p99,
      });
    }
    report.judge(
      `p2c/random p99, seed ${seed}`,
      times.get("p2c")! / times.get("random")!,
      "<=",
      ratioMax,
    );
  }
}

function simulate(policy: LbPolicy, seed: number): number[] {
  const random = seededRandom(seed);
  const book = new LoadBook();
  const selector = createSelector(policy, { book, random, prefixes: new PrefixIndex() });
  const workers = speeds.map((_, index): Candidate => ({
    peer: parsePeerId(`12D3KooW${"A".repeat(43)}${"ABC"[index]}`),
    service: "llm",
    engine: { kind: "vllm", version: "", continues: true },
    retry: "safe",
    capacity: 0,
    isSuspect: false,
  }));
  const freeAtMs = speeds.map(() => 0);
  const endings: { atMs: number; end: () => void }[] = [];
  const times: number[] = [];
  const perS = loadShare * speeds.reduce((sum, speed) => sum + speed, 0);
  for (let nowMs = 0; nowMs < seconds * 1_000; nowMs += -Math.log(1 - random()) * 1_000 / perS) {
    endings.sort((a, b) => a.atMs - b.atMs);
    while (endings.length > 0 && endings[0].atMs <= nowMs) endings.shift()!.end();
    const worker = selector.select(workers, nowMs);
    const index = workers.indexOf(worker);
    const ticket = book.started(worker, nowMs);
    const serviceMs = -Math.log(1 - random()) * 1_000 / speeds[index];
    const atMs = Math.max(nowMs, freeAtMs[index]) + serviceMs;
    freeAtMs[index] = atMs;
    times.push(atMs - nowMs);
    endings.push({
      atMs,
      end: () => {
        ticket.headArrived(atMs);
        ticket.finished();
      },
    });
  }
  return times;
}
