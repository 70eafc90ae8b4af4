// How do bundles become one file that runs anywhere, with just the permissions that the program needs?
import project from "../../deno.json" with { type: "json" };
import type { Bundles } from "./bundle.ts";
import { runProgram } from "./run_program.ts";
import type { CompileRuntime } from "./runtime.ts";
import { buildMs } from "./time_limits.ts";

/**
 * Compiles.
 * @param output Absolute path of the executable.
 * @throws {Error} When Deno refuses, with its reason.
 */
export async function compileBundles(
  { main, threads }: Bundles,
  output: string,
  { deno, env }: CompileRuntime,
): Promise<void> {
  await runProgram("Cannot compile the program", {
    command: [
      ...[...deno, "compile", "--quiet", "--no-config", "--no-check"],
      // The cache would lie in the temporary folder, under a name that any user of the machine can guess and
      // take first; and what V8 reads from it runs as the user of the executable.
      "--no-code-cache",
      ...project.unstable.map((name) => `--unstable-${name}`),
      ...taskFlags(project.tasks.otela),
      ...threads.map((path) => `--include=${path}`),
      ...[`--output=${output}`, main],
    ],
    env,
    limitMs: buildMs,
  });
}

/** What the program may do, and how V8 shall run it: as from source. */
function taskFlags(task: string): string[] {
  const words = task.split(" ");
  return words.slice(words.indexOf("run") + 1, words.indexOf("main.ts"));
}

/**
 * Runs the executable once. Deno takes any file for a runtime, and the result then does nothing, or something else.
 * @returns What it says of itself, one line.
 * @throws {Error} When it does not say that it is what was built.
 */
export async function checkProgram(output: string, runtime: CompileRuntime): Promise<string> {
  const say = (args: string[]) =>
    runProgram("The executable does not run", { command: [output, ...args], limitMs: buildMs });
  try {
    const { deno, build } = JSON.parse(await say(["version", "--json"]));
    if (deno === runtime.version && build === runtime.way) return await say(["version"]);
    throw new Error(`The executable says that it is a build "${build}" with Deno ${deno}`);
  } catch (error) {
    if (runtime.way !== "given") throw error;
    const must = `DENORT_BIN must be the compile runtime of Deno ${runtime.version}`;
    throw new Error(`${must}: what was made with it is no program of ours`, { cause: error });
  }
}
