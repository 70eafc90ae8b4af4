// Does every import point down?
import { type Import, importsOf } from "./imports.ts";
import type { Finding, SourceFile } from "./source_file.ts";

/** The folders of each rank; a file may import its own folder and lower ranks. */
export const ranks: readonly (readonly string[])[] = [
  ["lib/base"],
  ["lib/config", "lib/identity"],
  ["lib/membership", "lib/registry", "lib/access", "lib/usage", "lib/http"],
  ["lib/routing", "lib/lane", "lib/engine"],
  [
    "lib/exchange",
    "lib/server",
    "lib/service",
    "lib/platform",
    "lib/metrics",
    "lib/wallet",
    "lib/attestation",
  ],
  ["lib/mesh", "lib/gateway", "lib/settlement", "lib/fleet", "lib/sim"],
  ["lib/node", "lib/launcher"],
  ["lib/toolkit"],
  ["mod.ts", "cli"],
  ["main.ts"],
];

/** Holds the version of the product; data, not code. */
const projectFile = "deno.json";

const whyOrder =
  "Imports point down the ranks, never to the same rank's other folders: so that a part can be read, tested and " +
  "replaced knowing only what lies below it (docs/ARCHITECTURE.md)";
const whyCycle = "Imports make no circle: files in a circle can only be understood all at once";
const whyLibp2p =
  "Only lib/mesh imports libp2p: everything above speaks of peers and byte streams in our own words, so that " +
  "another transport, or a simulated one, fits in";
const whyLight =
  "What main.ts loads stays in the launcher of every node and delays every command: libp2p and Automerge belong to " +
  "the node's thread, the simulator to its command, which imports it when it runs";
const whyBarrel =
  "mod.ts is the only file that hands on what others export: an import names the file where a thing is";

/** Lower ranks import no higher ones, nor a neighbour. */
export function importOrder(files: readonly SourceFile[]): Finding[] {
  return productImports(files).flatMap(({ file, found }) => {
    const from = placeOf(file.path);
    if (from === undefined) {
      return [{ path: file.path, line: 0, what: "stands in no ranked folder", why: whyOrder }];
    }
    if (found.path === undefined || found.path === projectFile) return [];
    const to = placeOf(found.path);
    if (to !== undefined && (to.folder === from.folder || to.rank < from.rank)) return [];
    const what = `${from.folder} (rank ${from.rank}) imports ${found.path} (${
      to ? `rank ${to.rank}` : "not part of the product"
    })`;
    return [{ path: file.path, line: found.line, what, why: whyOrder }];
  });
}

/** No file reaches itself by imports. Each circle is told once. */
export function noCycles(files: readonly SourceFile[]): Finding[] {
  const graph = new Map<string, string[]>();
  for (const { file, found } of productImports(files)) {
    const paths = graph.get(file.path) ?? [];
    if (found.path !== undefined) paths.push(found.path);
    graph.set(file.path, paths);
  }
  const findings: Finding[] = [];
  const done = new Set<string>();
  const visit = (path: string, trail: readonly string[]) => {
    const start = trail.indexOf(path);
    if (start >= 0) {
      const what = [...trail.slice(start), path].join(" → ");
      findings.push({ path, line: 0, what, why: whyCycle });
      return;
    }
    if (done.has(path)) return;
    for (const next of graph.get(path) ?? []) visit(next, [...trail, path]);
    done.add(path);
  };
  for (const path of graph.keys()) visit(path, []);
  return findings;
}

/** The libp2p family stays behind the mesh. */
export function libp2pBehindMesh(files: readonly SourceFile[]): Finding[] {
  return productImports(files)
    .filter(({ file, found }) =>
      !file.path.startsWith("lib/mesh/") &&
      /^(libp2p$|@libp2p\/|@multiformats\/)/.test(found.specifier)
    )
    .map(({ file, found }) => ({
      path: file.path,
      line: found.line,
      what: `imports ${found.specifier}`,
      why: whyLibp2p,
    }));
}

/** No command loads what only a node, or one command, needs. */
export function lightCommands(files: readonly SourceFile[]): Finding[] {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const seen = new Set(["main.ts"]);
  const findings: Finding[] = [];
  for (const path of seen) { // Grows while it is walked.
    const file = byPath.get(path);
    for (const found of file ? importsOf(file) : []) {
      if (!found.isLoaded) continue;
      const isHeavy = /^(libp2p$|@libp2p\/|@automerge\/)/.test(found.specifier) ||
        found.path?.startsWith("lib/sim/");
      if (isHeavy) {
        const what = `imports ${found.specifier}, and main.ts loads it`;
        findings.push({ path, line: found.line, what, why: whyLight });
      } else if (found.path !== undefined) seen.add(found.path);
    }
  }
  return findings;
}

/** One barrel. */
export function oneBarrel(files: readonly SourceFile[]): Finding[] {
  return productImports(files)
    .filter(({ file, found }) => file.path !== "mod.ts" && found.isReExport)
    .map(({ file, found }) => ({
      path: file.path,
      line: found.line,
      what: `exports from ${found.specifier}`,
      why: whyBarrel,
    }));
}

/** Whether a file is part of what users run, and not of what proves or ships it. */
export function isProduct(path: string): boolean {
  return path.endsWith(".ts") && /^(lib\/|cli\/|mod\.ts$|main\.ts$)/.test(path);
}

function productImports(files: readonly SourceFile[]): { file: SourceFile; found: Import }[] {
  return files.filter(({ path }) => isProduct(path))
    .flatMap((file) => importsOf(file).map((found) => ({ file, found })));
}

function placeOf(path: string): { folder: string; rank: number } | undefined {
  for (const [rank, folders] of ranks.entries()) {
    const folder = folders.find((name) => path === name || path.startsWith(`${name}/`));
    if (folder !== undefined) return { folder, rank };
  }
  return undefined;
}
