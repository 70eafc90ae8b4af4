// How do a thousand modules become a few files, which start sooner and take less memory?
import { Buffer } from "node:buffer";
import { deflateRawSync } from "node:zlib";
import type { BuildWay } from "../../cli/build_way.ts";
import { runProgram } from "./run_program.ts";
import type { CompileRuntime } from "./runtime.ts";
import { nameThreads, threadModules } from "./thread_modules.ts";
import { buildMs } from "./time_limits.ts";

/** The bundles of one executable. */
export type Bundles = {
  readonly main: string;
  /** Of each module that runs in a thread of its own. */
  readonly threads: readonly string[];
};

/** Packages expect the timers of Node, objects with `unref`; in a bundle they would find those of the web. */
const nodeTimers = `import * as timersOfNode from "node:timers";
for (const name of ["clearInterval", "clearTimeout", "setInterval", "setTimeout"]) {
  globalThis[name] = timersOfNode[name];
}
`;

/**
 * Bundles the program and its threads, with just the parts of packages that they reach.
 * @param root Of the project, absolute, with a slash at its end.
 * @param folder Absolute; not there yet.
 */
export async function bundle(
  root: string,
  folder: string,
  { deno, env, way }: CompileRuntime,
): Promise<Bundles> {
  const threads = threadModules(await sourcesIn(root));
  const entries = ["main.ts", ...new Set(threads.values())];
  await runProgram("Cannot bundle the program", {
    command: [...deno, "bundle", "--quiet", "--frozen", `--outdir=${folder}`, ...entries],
    env,
    cwd: root,
    limitMs: buildMs,
  });
  const bundles = entries.map((entry) => entry.replace(/\.ts$/, ".js"));
  for (const path of bundles) {
    const file = `${folder}/${path}`;
    const named = nameThreads(await Deno.readTextFile(file), path, threads);
    const told = path === "main.js" ? tellWay(named, way) : named;
    await Deno.writeTextFile(file, nodeTimers + asciiOnly(packed(withoutCachePath(told))));
    await Deno.utime(file, 0, 0); // The executable keeps it; the same program shall be the same bytes.
  }
  const [main, ...others] = bundles.map((path) => `${folder}/${path}`);
  return { main, threads: others };
}

/** Our modules by path from the root. */
async function sourcesIn(root: string): Promise<Record<string, string>> {
  const sources: Record<string, string> = {};
  const read = async (folder: string) => {
    for await (const { name, isDirectory } of Deno.readDir(root + folder)) {
      const path = `${folder}/${name}`;
      if (isDirectory) await read(path);
      else if (name.endsWith(".ts")) sources[path] = await Deno.readTextFile(root + path);
    }
  };
  await read("lib");
  await read("cli");
  return sources;
}

/** Puts the way in the place of `buildWay` in `cli/build_way.ts`. */
export function tellWay(text: string, way: BuildWay): string {
  const parts = text.split('buildWay = "source"');
  if (parts.length !== 2) {
    throw new Error(`Cannot say how it was built: found ${parts.length - 1} places`);
  }
  return parts.join(`buildWay = "${way}"`);
}

/**
 * The same program, whoever builds it: comments and keys name each module of a package by where the builder
 * keeps packages.
 */
export function withoutCachePath(text: string): string {
  return text.replaceAll(/^(\s*(?:\/\/ |"))(?:\.\.\/)+\S*?\/npm\/[^/\s"]+\//gm, "$1npm/");
}

/** WebAssembly in base64; anything shorter gains nothing. */
const longBase64 = /"([A-Za-z0-9+/]{100000,}={0,2})"/g;
const unpacking = `import { Buffer as unpackBuffer } from "node:buffer";
import { inflateRawSync as unpackInflate } from "node:zlib";
`;

/** The same program with its binaries deflated: the runtime holds all of a program in memory as long as it runs. */
export function packed(text: string): string {
  let isPacked = false;
  const program = text.replaceAll(longBase64, (_, base64: string) => {
    isPacked = true;
    const deflated = deflateRawSync(Buffer.from(base64, "base64"), { level: 9 });
    const inflate = `unpackInflate(unpackBuffer.from("${deflated.toString("base64")}", "base64"))`;
    return `${inflate}.toString("base64")`;
  });
  return isPacked ? unpacking + program : program;
}

/**
 * The same program in ASCII. One other character, in a comment even, and V8 keeps two bytes for each of the ten
 * million characters.
 */
export function asciiOnly(text: string): string {
  return text.replaceAll(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
