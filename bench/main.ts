// How does the product perform, and does it keep its promises?
import { benchIdleStreams } from "./idle_streams.ts";
import { benchProxy } from "./proxy.ts";
import { type BenchOptions, benchUsage, parseBenchOptions } from "./rig/options.ts";
import { findReference, runIsolated } from "./rig/reference.ts";
import { Report } from "./rig/report.ts";
import { benchStart } from "./start.ts";
import { benchStream } from "./stream.ts";

/** Measures into the report; the report judges. */
type Bench = (options: BenchOptions, report: Report) => Promise<void>;

const benches: Readonly<Record<string, Bench>> = {
  proxy: benchProxy,
  stream: benchStream,
  start: benchStart,
  idle_streams: benchIdleStreams,
};

Deno.exit(await main(Deno.args));

/** @returns 0 when every bar was met, 1 when one was missed, 2 when we were not understood. */
async function main(args: string[]): Promise<number> {
  const { names, options: given } = parseBenchOptions(args);
  const unknown = names.find((name) => !Object.hasOwn(benches, name));
  if (names.length === 0 || unknown !== undefined) {
    if (unknown !== undefined) console.error(`There is no bench "${unknown}"`);
    console.error(`${benchUsage}\nNAME: one or more of ${Object.keys(benches).join(", ")}`);
    return 2;
  }
  const reference = await findReference(given.reference, (text) => console.error(text));
  const options = { ...given, reference };
  const isolatedCode = await runIsolated(args, options);
  if (isolatedCode !== undefined) return isolatedCode;
  let isGood = true;
  for (const name of names) {
    const report = new Report(name, options.isJson, console.log);
    await benches[name](options, report);
    isGood = report.finish() && isGood;
  }
  return isGood ? 0 : 1;
}
