// How is the one file made that a user puts into `$HOME/bin`?
import { fileURLToPath } from "node:url";
import { messageOf } from "../lib/base/errors.ts";
import { bundle } from "./executable/bundle.ts";
import { checkProgram, compileBundles } from "./executable/compile_bundles.ts";
import { findRuntime } from "./executable/runtime.ts";

/** Makes the executable in a scratch folder, and puts it in its place when it has shown that it runs. */
async function compile(root: string, say: (line: string) => void): Promise<void> {
  const cacheFolder = `${root}.cache/compile`;
  const runtime = await findRuntime(cacheFolder);
  say(runtime.told);
  const scratch = await Deno.makeTempDir({ dir: cacheFolder, prefix: "build-" });
  try {
    const made = `${scratch}/otela`;
    await compileBundles(await bundle(root, `${scratch}/bundle`, runtime), made, runtime);
    const version = await checkProgram(made, runtime);
    const megabytes = Math.round((await Deno.stat(made)).size / 1e6);
    const output = `dist/otela-${Deno.build.target}`;
    await Deno.mkdir(`${root}dist`, { recursive: true });
    await Deno.rename(made, root + output);
    say(`${output}, ${megabytes} MB: ${version}`);
  } finally {
    await Deno.remove(scratch, { recursive: true });
  }
}

if (import.meta.main) {
  try {
    await compile(fileURLToPath(new URL("..", import.meta.url)), (line) => console.log(line));
  } catch (error) {
    console.error(`compile: ${messageOf(error)}`);
    Deno.exitCode = 1;
  }
}
