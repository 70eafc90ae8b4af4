// Does the core decide without touching the machine?
import { codeOnly } from "./code_only.ts";
import { importsOf } from "./imports.ts";
import { isProduct } from "./import_order.ts";
import { findAll, type Finding, type SourceFile } from "./source_file.ts";

/** Folders that are functions of their arguments. */
export const coreFolders: readonly string[] = [
  "base",
  "membership",
  "registry",
  "access",
  "usage",
  "http",
  "routing",
  "lane",
  "sim",
].map((name) => `lib/${name}/`);

const impure =
  /(?<![.\w#])(?:await|async|Date|performance|fetch|crypto|Deno|setTimeout|setInterval|clearTimeout|clearInterval|queueMicrotask)\b(?!\s*\??:)|\bMath\.random\b/g;
const whyPure =
  "Core folders never wait and never touch clock, chance, network or disk, they get them as values: so the simulator " +
  "runs the same code in virtual time and a failure can be replayed from its seed";
const whyExit =
  "Only main.ts and cli/ end the process: whoever uses otela as a library must survive it";
/** Built-in modules that only compute. */
const pureModules: readonly string[] = ["node:buffer"];
const whyNodeModule =
  "Core folders import no node: modules that reach the machine: their tests run without any permission";

/** No waiting, no clock, no chance, no machine in the core. */
export function pureCore(files: readonly SourceFile[]): Finding[] {
  return files.filter(({ path }) => coreFolders.some((folder) => path.startsWith(folder)))
    .flatMap((file) => [
      ...findAll(file, impure, whyPure, codeOnly(file.text)),
      ...importsOf(file)
        .filter(({ specifier }) =>
          specifier.startsWith("node:") && !pureModules.includes(specifier)
        )
        .map(({ specifier, line }) => ({
          path: file.path,
          line,
          what: `imports ${specifier}`,
          why: whyNodeModule,
        })),
    ]);
}

/** The library never ends the process it lives in. */
export function exitOnlyOutside(files: readonly SourceFile[]): Finding[] {
  return files.filter(({ path }) => isProduct(path) && /^(lib\/|mod\.ts$)/.test(path))
    .flatMap((file) => findAll(file, /\bDeno\.exit(?:Code)?\b/g, whyExit, codeOnly(file.text)));
}
