// How is the one file made that a user puts into `$HOME/bin`?
import { fileURLToPath } from "node:url";
import project from "../deno.json" with { type: "json" };
import { messageOf } from "../lib/base/errors.ts";
import { bundle } from "./executable/bundle.ts";
import { runProgram } from "./executable/run_program.ts";
import { findRuntime } from "./executable/runtime.ts";
import { buildMs } from "./executable/time_limits.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

/** @returns The path of the executable, from the root of the project. */
async function compile(say: (line: string) => void): Promise<string> {
  const cacheFolder = `${root}.cache/compile`;
  const runtime = await findRuntime(cacheFolder);
  say(runtime.told);
  const { main, threads } = await bundle(root, `${cacheFolder}/bundle`, runtime);
  const output = `dist/otela-${Deno.build.target}`;
  await Deno.mkdir(`${root}dist`, { recursive: true });
  await runProgram("Cannot compile the program", {
    command: [
      ...[...runtime.deno, "compile", "--quiet", "--no-config", "--no-check"],
      // It would lie in the temporary folder under a name that every user of the machine can guess and take
      // first, and what V8 reads from it runs as this user.
      "--no-code-cache",
      ...project.unstable.map((name) => `--unstable-${name}`),
      ...taskFlags(project.tasks.otela),
      ...threads.map((path) => `--include=${path}`),
      ...[`--output=${root}${output}`, main],
    ],
    env: runtime.env,
    cwd: root,
    limitMs: buildMs,
  });
  return output;
}

/** What the program may do, and how V8 shall run it: as from source. */
function taskFlags(task: string): string[] {
  const words = task.split(" ");
  return words.slice(words.indexOf("run") + 1, words.indexOf("main.ts"));
}

if (import.meta.main) {
  try {
    const output = await compile((line) => console.log(line));
    const version = await runProgram(`${output} does not run`, {
      command: [`${root}${output}`, "version"],
      limitMs: buildMs,
    });
    const megabytes = (await Deno.stat(root + output)).size / 1e6;
    console.log(`${output}, ${Math.round(megabytes)} MB: ${version}`);
  } catch (error) {
    console.error(`compile: ${messageOf(error)}`);
    Deno.exitCode = 1;
  }
}
