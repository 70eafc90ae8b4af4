// How much better than chance does a head spread requests over workers of different speed?
import type { LbPolicy } from "../lib/routing/policies/types.ts";
import { seededRandom } from "../lib/sim/seeded_random.ts";
import { simulateBalance } from "./balance_sim.ts";
import { arrive } from "./load/open_loop.ts";
import { percentile } from "./load/percentile.ts";
import { SlotEngine } from "./load/slot_engine.ts";
import { startEngineNodes } from "./rig/engine_nodes.ts";
import type { BenchOptions } from "./rig/options.ts";
import type { Report } from "./rig/report.ts";

/** Speeds of the workers' engines; at speed 1 a request of mean size takes so long. */
const speeds = [1, 2, 4];
const meanMs = 400;
const slots = 4;
const loadShare = 0.8;
const seeds = [1, 2, 3];
/** Source: issue 6. */
const ratioMax = 0.5;
/** So long after the last arrival whoever still waits is given up; what it waited is counted as its time. */
const graceMs = 10_000;

/** What is asked of an engine: when, and how much work it is; 1 is usual. */
type Arrival = { readonly atMs: number; readonly work: number };
type Answered = { readonly ms: number; readonly outcome: "ok" | "failed" | "given up" };
type Measured = {
  readonly answers: readonly Answered[];
  /** Requests that the engine of each speed has begun. */
  readonly turns: readonly number[];
  /** How late the load itself was, since a busy machine would measure itself. */
  readonly lateMs: readonly number[];
};

/**
 * Real heads and workers, one mesh a policy, under the same requests at the same time. A head has nothing but its own
 * eyes: no engine says how fast it is. `--small`: the policies alone, in virtual time.
 */
export async function benchBalance(options: BenchOptions, report: Report): Promise<void> {
  if (options.isSmall) return simulateBalance(ratioMax, report);
  for (const seed of seeds.slice(0, options.rounds)) {
    const arrivals = arrivalsOf(seed, options.seconds ?? 60);
    const policies = ["random", "p2c"] as const;
    const [random, p2c] = await measureAll(policies, arrivals, options);
    report.judge(`p2c/random p99, seed ${seed}`, p99(p2c) / p99(random), "<=", ratioMax);
    // Those of chance queue up before the slow worker: that is what it is measured for.
    report.judge(`p2c not answered, seed ${seed}`, p2c.answers.length - okCount(p2c), "=", 0);
    for (const [index, measured] of [random, p2c].entries()) {
      const times = measured.answers.map(({ ms }) => ms);
      report.row({
        seed,
        policy: policies[index],
        requests: times.length,
        answered: okCount(measured),
        p50_ms: percentile(times, 0.5),
        p99_ms: p99(measured),
        turns_1x: measured.turns[0],
        turns_2x: measured.turns[1],
        turns_4x: measured.turns[2],
        late_p99_ms: percentile(measured.lateMs, 0.99),
      });
    }
  }
}

/** Arrivals by chance at the load wanted, their work too, as an exponential distribution scatters. */
function arrivalsOf(seed: number, seconds: number): Arrival[] {
  const random = seededRandom(seed);
  const drawn = () => -Math.log(1 - random());
  const perS = loadShare * slots * speeds.reduce((sum, speed) => sum + speed) * 1_000 / meanMs;
  const arrivals: Arrival[] = [];
  for (let atMs = 0; atMs < seconds * 1_000; atMs += drawn() * 1_000 / perS) {
    arrivals.push({ atMs, work: drawn() });
  }
  return arrivals;
}

async function measureAll(
  policies: readonly LbPolicy[],
  arrivals: readonly Arrival[],
  options: BenchOptions,
): Promise<Measured[]> {
  await using stack = new AsyncDisposableStack();
  const meshes = [];
  for (const policy of policies) {
    const engines = speeds.map((speed) => stack.use(engineOf(speed)));
    const headArgs = ["--lb-policy", policy];
    const { head } = await startEngineNodes(stack, engines, { exe: options.exe, headArgs });
    meshes.push({ head, engines });
  }
  return await Promise.all(
    meshes.map(async ({ head, engines }) => {
      const { answers, lateMs } = await load(head.http, arrivals);
      return { answers, lateMs, turns: engines.map(({ turnCount }) => turnCount) };
    }),
  );
}

function engineOf(speed: number): SlotEngine {
  return new SlotEngine({
    slots,
    turn: ({ work = 1 }) => ({ serviceMs: work * meanMs / speed, answer: "done" }),
  });
}

async function load(
  headUrl: string,
  arrivals: readonly Arrival[],
): Promise<Pick<Measured, "answers" | "lateMs">> {
  const startMs = performance.now();
  const givenUp = new AbortController();
  const timer = setTimeout(() => givenUp.abort(), arrivals.at(-1)!.atMs + graceMs);
  const lateMs: number[] = [];
  const answers = await arrive(arrivals.map(({ atMs }) => atMs), async (index) => {
    const { atMs, work } = arrivals[index];
    lateMs.push(performance.now() - startMs - atMs);
    const outcome = await ask(headUrl, work, givenUp.signal);
    return { ms: performance.now() - startMs - atMs, outcome };
  });
  clearTimeout(timer);
  return { answers, lateMs };
}

async function ask(
  headUrl: string,
  work: number,
  givenUp: AbortSignal,
): Promise<Answered["outcome"]> {
  try {
    const response = await fetch(`${headUrl}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      signal: givenUp,
      body: JSON.stringify({ model: "m", messages: [{ role: "user", content: "hello" }], work }),
    });
    await response.text();
    return response.status === 200 ? "ok" : "failed";
  } catch {
    return givenUp.aborted ? "given up" : "failed";
  }
}

function okCount({ answers }: Measured): number {
  return answers.filter(({ outcome }) => outcome === "ok").length;
}

function p99({ answers }: Measured): number {
  return percentile(answers.map(({ ms }) => ms), 0.99);
}
