// Does membership ever cry wolf, how fast does it notice, and how fast is the simulator?
import { hourMs, minuteMs, type Ms } from "../lib/base/units.ts";
import { type Faults, parseFaults } from "../lib/sim/faults.ts";
import { simulate, type SimulationResult } from "../lib/sim/simulate.ts";
import type { BenchOptions } from "./rig/options.ts";
import type { Report } from "./rig/report.ts";

/** The worst weather that a healthy mesh must bear: a tenth of all nodes frozen for 5 s, a tenth of all messages lost. */
const weather = parseFaults("pause=0.1,loss=0.1");
const weatherNodes = 300;
const speedNodes = 1_000;

/** Ten hours of bad weather, then the speed of a mesh of 1,000, then what detection takes. */
export function benchSim(options: BenchOptions, report: Report): Promise<void> {
  const hours = options.rounds ?? (options.isSmall ? 0.05 : 10);
  judgeWeather(hours, report);
  const churn = parseFaults("churn,loss=0.05");
  const minutes = options.isSmall ? 0.5 : 10;
  const { result, seconds } = timed(speedNodes, 7, churn, minutes * minuteMs);
  report.row(rowOf("churn", result, seconds));
  const slack = options.isSmall ? 4 : 1; // A small run shares the machine with tests.
  report.judge("seconds for 1000 nodes, 10 min", seconds * 10 / minutes, "<=", 30 * slack);
  report.judge("broken promises of churn", result.violations.length, "=", 0);
  judgeFrozen(options.isSmall, report);
  return Promise.resolve();
}

/** A hundred hours of bad weather. */
export function benchSoak(options: BenchOptions, report: Report): Promise<void> {
  judgeWeather(options.rounds ?? 100, report);
  return Promise.resolve();
}

/** Hosts that end without a word: nobody refuses, nothing is closed; as a frozen process looks from outside. */
function judgeFrozen(isSmall: boolean, report: Report): void {
  const { result, seconds } = timed(
    weatherNodes,
    3,
    parseFaults("crash=1"),
    (isSmall ? 0.5 : 10) * minuteMs,
  );
  report.row(rowOf("crash", result, seconds));
  report.judge("silent: left_p50_s", result.detectionP50Ms / 1000, "<=", 10.5);
  report.judge("silent: left_p99_s", result.detectionP99Ms / 1000, "<=", 14);
  // Every two seconds a host ends here: who is watched by two that ended just before waits until those have left.
  report.judge("silent: left_max_s", result.detectionMaxMs / 1000, "<=", 24);
  report.judge("broken promises of crash", result.violations.length, "=", 0);
}

/** Runs an hour a seed, so that a failure names a seed that is quickly run again. */
function judgeWeather(hours: number, report: Report): void {
  let removals = 0;
  let suspicions = 0;
  let broken = 0;
  for (let seed = 1; seed <= Math.ceil(hours); seed++) {
    const share = Math.min(1, hours - (seed - 1));
    const { result, seconds } = timed(weatherNodes, seed, weather, share * hourMs);
    report.row(rowOf("weather", result, seconds));
    for (const violation of result.violations) report.note(violation);
    removals += result.falseRemovalCount;
    suspicions += result.falseSuspicionCount;
    broken += result.violations.length;
  }
  report.note(`${suspicions} suspicions of peers that ran and were not frozen, in ${hours} h`);
  report.judge(`left said of the living in ${hours} h`, removals, "=", 0);
  report.judge("broken promises of weather", broken, "=", 0);
}

function timed(nodeCount: number, seed: number, faults: Faults, actMs: Ms) {
  const startMs = performance.now();
  const result = simulate({ nodeCount, seed, faults, actMs });
  return { result, seconds: (performance.now() - startMs) / 1000 };
}

function rowOf(world: string, result: SimulationResult, seconds: number) {
  return {
    world,
    nodes: result.nodeCount,
    seed: result.seed,
    virtual_min: result.virtualMs / minuteMs,
    left_p50_ms: result.detectionCount > 0 ? result.detectionP50Ms : "",
    left_p99_ms: result.detectionCount > 0 ? result.detectionP99Ms : "",
    left_max_ms: result.detectionCount > 0 ? result.detectionMaxMs : "",
    false_left: result.falseRemovalCount,
    false_suspect: result.falseSuspicionCount,
    messages_per_node_s: result.messagesPerNodeSecond,
    bytes_per_node_s: result.bytesPerNodeSecond,
    converge_ms: result.convergenceMs,
    seconds,
  };
}
