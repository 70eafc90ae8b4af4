// Where is the executable that `deno task compile` has made?
import { fileURLToPath } from "node:url";

/** Absolute path. Tests of the executable fail where nothing was compiled, and say so: none is left out silently. */
export const executable: string = fileURLToPath(
  new URL(`../../dist/otela-${Deno.build.target}`, import.meta.url),
);

/** What an executable finds on a machine that has no Deno and on which it was never run. */
export const foreignPath = "/usr/bin:/bin";

try {
  Deno.statSync(executable);
} catch (cause) {
  throw new Error(`There is no ${executable}: "deno task compile" makes it`, { cause });
}
