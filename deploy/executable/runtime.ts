// With which Deno, and which runtime inside, is the executable made?
import { messageOf } from "../../lib/base/errors.ts";
import type { BuildWay } from "../../cli/build_way.ts";
import { npmEnvironment, offlineRuntime, offlineVersion } from "./offline_runtime.ts";
import { runProgram } from "./run_program.ts";
import { reachMs } from "./time_limits.ts";

/** A Deno that can compile. */
export type CompileRuntime = {
  readonly way: Exclude<BuildWay, "source">;
  /** Of this Deno. */
  readonly version: string;
  /** The words that start this Deno. */
  readonly deno: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** One line for people: which way was taken, and why none before it. */
  readonly told: string;
};

/**
 * Finds a compile runtime: the one of `DENORT_BIN`; else what Deno itself downloads for the version that runs;
 * else the one that the npm registry can give, of another version.
 * @param cacheFolder Absolute; where a fetched runtime is kept.
 * @throws {Error} With the reason of each way, when none is left.
 */
export async function findRuntime(cacheFolder: string): Promise<CompileRuntime> {
  const running = Deno.version.deno;
  const given = Deno.env.get("DENORT_BIN");
  if (given) {
    const isFile = await Deno.stat(given).then((facts) => facts.isFile, () => false);
    if (!isFile) throw new Error(`DENORT_BIN must name a file: got "${given}"`);
    const told = `runtime of Deno ${running} from DENORT_BIN`;
    return { way: "given", version: running, deno: [Deno.execPath()], env: {}, told };
  }
  const notDownloaded = await whyNoDownload(cacheFolder);
  if (notDownloaded === undefined) {
    const told = `runtime of Deno ${running}, Deno's own download`;
    return { way: "downloaded", version: running, deno: [Deno.execPath()], env: {}, told };
  }
  try {
    const env = { DENORT_BIN: await offlineRuntime(cacheFolder), ...npmEnvironment };
    const deno = running === offlineVersion
      ? [Deno.execPath()]
      : ["npx", "-y", `deno@${offlineVersion}`];
    const told =
      `offline build with the runtime of Deno ${offlineVersion} from the npm registry, ` +
      `as DENORT_BIN is not set and ${notDownloaded}`;
    return { way: "offline", version: offlineVersion, deno, env, told };
  } catch (error) {
    const reasons = ["DENORT_BIN is not set", notDownloaded, messageOf(error)];
    throw new Error(`There is no compile runtime: ${reasons.join("; ")}`, { cause: error });
  }
}

/** Compiles next to nothing, for which Deno needs the runtime. `undefined` when that works. */
async function whyNoDownload(cacheFolder: string): Promise<string | undefined> {
  await Deno.mkdir(cacheFolder, { recursive: true });
  const scratch = await Deno.makeTempDir({ dir: cacheFolder, prefix: "probe-" });
  try {
    await Deno.writeTextFile(`${scratch}/empty.js`, "");
    await runProgram(`Deno ${Deno.version.deno} cannot download its own`, {
      command: [Deno.execPath(), "compile", "--no-config", "--output", "empty", "empty.js"],
      cwd: scratch,
      limitMs: reachMs,
    });
    return undefined;
  } catch (error) {
    return messageOf(error);
  } finally {
    await Deno.remove(scratch, { recursive: true });
  }
}
