// How does the product perform, and does it keep its promises?
import { resolve } from "node:path";
import { messageOf } from "../lib/base/errors.ts";
import { benchBalance } from "./balance.ts";
import { benchCancels } from "./cancels.ts";
import { benchChurn } from "./churn.ts";
import { benchConvergence } from "./convergence.ts";
import { benchDetection } from "./detection.ts";
import { benchFairness } from "./fairness.ts";
import { benchFreeze } from "./freeze.ts";
import { benchIdle } from "./idle.ts";
import { benchIdleStreams } from "./idle_streams.ts";
import { benchKill } from "./kill.ts";
import { benchMemory } from "./memory.ts";
import { benchOutage } from "./outage.ts";
import { benchPrefix } from "./prefix.ts";
import { benchProxy } from "./proxy.ts";
import { type BenchOptions, benchUsage, parseBenchOptions } from "./rig/options.ts";
import { findReference, runIsolated } from "./rig/reference.ts";
import { Report } from "./rig/report.ts";
import { benchSim, benchSoak } from "./sim.ts";
import { benchSimSeeds } from "./sim_seeds.ts";
import { benchSlow } from "./slow.ts";
import { benchSlowReader } from "./slow_reader.ts";
import { benchStart } from "./start.ts";
import { benchSteady } from "./steady.ts";
import { benchStream } from "./stream.ts";
import { benchWan } from "./wan.ts";

/** Measures into the report; the report judges. */
type Bench = (options: BenchOptions, report: Report) => Promise<void>;

const benches: Readonly<Record<string, Bench>> = {
  proxy: benchProxy,
  stream: benchStream,
  start: benchStart,
  idle_streams: benchIdleStreams,
  wan: benchWan,
  slow: benchSlow,
  slow_reader: benchSlowReader,
  fairness: benchFairness,
  balance: benchBalance,
  prefix: benchPrefix,
  cancels: benchCancels,
  kill: benchKill,
  freeze: benchFreeze,
  outage: benchOutage,
  detection: benchDetection,
  idle: benchIdle,
  convergence: benchConvergence,
  churn: benchChurn,
  memory: benchMemory,
  steady: benchSteady,
  sim: benchSim,
  sim_seeds: benchSimSeeds,
  soak: benchSoak,
};

Deno.exit(await main(Deno.args));

/** @returns 0 when every bar was met, 1 when one was missed or could not be measured, 2 when we were not understood. */
async function main(args: string[]): Promise<number> {
  let parsed: ReturnType<typeof parseBenchOptions>;
  try {
    parsed = parseBenchOptions(args);
    const unknown = parsed.names.find((name) => !Object.hasOwn(benches, name));
    if (unknown !== undefined) throw new Error(`There is no bench "${unknown}"`);
    if (parsed.names.length === 0) throw new Error("Which bench?");
  } catch (error) {
    console.error(`${messageOf(error)}\n${benchUsage}`);
    console.error(`NAME: one or more of ${Object.keys(benches).join(", ")}`);
    return 2;
  }
  const { names, options: given } = parsed;
  const reference = await findReference(given.reference, (text) => console.error(text));
  const typedIn = Deno.env.get("INIT_CWD") ?? Deno.cwd(); // The task itself runs elsewhere.
  const exe = given.exe && resolve(typedIn, given.exe);
  const llama = given.llama && {
    // A mere name is looked up on the PATH.
    server: given.llama.server.includes("/")
      ? resolve(typedIn, given.llama.server)
      : given.llama.server,
    model: resolve(typedIn, given.llama.model),
  };
  const options = { ...given, reference, exe, llama };
  const isolatedCode = await runIsolated(args, options);
  if (isolatedCode !== undefined) return isolatedCode;
  let isGood = true;
  for (const name of names) {
    const report = new Report(name, options.isJson, console.log);
    try {
      await benches[name](options, report);
      isGood = report.finish() && isGood;
    } catch (error) {
      console.error(`Cannot finish bench ${name}: ${messageOf(error)}`);
      isGood = false;
    }
  }
  return isGood ? 0 : 1;
}
