import { deepEqual, equal, match } from "node:assert/strict";
import type { SourceFile } from "../../tidy/source_file.ts";
import { importsOf } from "../../tidy/imports.ts";
import {
  importOrder,
  libp2pBehindMesh,
  lightCommands,
  noCycles,
  oneBarrel,
} from "../../tidy/import_order.ts";

const file = (path: string, ...imports: string[]) => ({
  path,
  text: imports.map((name) => `import { x } from "${name}";\n`).join(""),
});

Deno.test("importsOf finds every form of import, and none in comments and strings", () => {
  const text = `// import "no1";
import a from "a";
import {
  b,
  type C,
} from "b";
import type { D } from "../d.ts";
import "side";
export { e } from "./e.ts";
const f = await import("f");
const text = 'import "no2"';`;
  const imports = importsOf({ path: "lib/x/y.ts", text });
  deepEqual(imports.map(({ specifier }) => specifier), [
    "a",
    "b",
    "../d.ts",
    "side",
    "./e.ts",
    "f",
  ]);
  deepEqual(imports.map(({ path }) => path), [
    undefined,
    undefined,
    "lib/d.ts",
    undefined,
    "lib/x/e.ts",
    undefined,
  ]);
  deepEqual(imports.filter(({ isReExport }) => isReExport).map(({ line }) => line), [9]);
});

Deno.test("importOrder lets a file import its own folder and lower ranks", () => {
  deepEqual(
    importOrder([
      file(
        "lib/routing/policies/p2c.ts",
        "../types.ts",
        "../../base/units.ts",
        "../../registry/claim.ts",
      ),
      file("cli/commands/start.ts", "../run.ts", "../../lib/node/node.ts", "../../deno.json"),
      file("main.ts", "./cli/run.ts", "node:path"),
      file("tests/unit/x_test.ts", "../../lib/node/node.ts"),
    ]),
    [],
  );
});

Deno.test("importOrder refuses a higher rank, a neighbour and what is no product", () => {
  const findings = importOrder([
    file("lib/base/units.ts", "../config/schema.ts"),
    file("lib/routing/view.ts", "../lane/frame.ts"),
    file("lib/mesh/host.ts", "../../tests/support/within.ts"),
    file("lib/misc/thing.ts", "../base/units.ts"),
  ]);
  deepEqual(findings.map(({ path }) => path), [
    "lib/base/units.ts",
    "lib/routing/view.ts",
    "lib/mesh/host.ts",
    "lib/misc/thing.ts",
  ]);
  match(findings[1].what, /lib\/routing \(rank 3\) imports lib\/lane\/frame\.ts \(rank 3\)/);
});

Deno.test("noCycles tells the files of a circle, once", () => {
  const findings = noCycles([
    file("lib/base/a.ts", "./b.ts"),
    file("lib/base/b.ts", "./c.ts"),
    file("lib/base/c.ts", "./a.ts"),
    file("lib/base/d.ts", "./a.ts"),
  ]);
  equal(findings.length, 1);
  equal(findings[0].what, "lib/base/a.ts → lib/base/b.ts → lib/base/c.ts → lib/base/a.ts");
});

Deno.test("libp2pBehindMesh refuses the libp2p family outside lib/mesh", () => {
  const findings = libp2pBehindMesh([
    file("lib/mesh/host.ts", "libp2p", "@libp2p/noise"),
    file("lib/node/node.ts", "libp2p", "@libp2p/interface", "@multiformats/multiaddr", "libp2pish"),
  ]);
  equal(findings.length, 3);
});

Deno.test("oneBarrel refuses to hand on outside mod.ts", () => {
  const text = `export { a } from "./lib/base/a.ts";\nexport * from "./lib/base/b.ts";`;
  deepEqual(oneBarrel([{ path: "mod.ts", text }]), []);
  equal(oneBarrel([{ path: "lib/base/all.ts", text }]).length, 2);
});

Deno.test("lightCommands follows what main.ts loads, but neither types nor what is imported when a command runs", () => {
  const command = "cli/commands/simulate.ts";
  const files = (text: string): SourceFile[] => [
    { path: "main.ts", text: `import { run } from "./${command}";` },
    { path: command, text },
    { path: "cli/simulation.ts", text: `import { simulate } from "../lib/sim/simulate.ts";` },
    { path: "lib/mesh/host.ts", text: `import { createLibp2p } from "libp2p";` },
  ];
  const heavy = [
    `import { simulate } from "../../lib/sim/simulate.ts";`,
    `import { runSimulation } from "../simulation.ts";`,
    `import { load } from "@automerge/automerge/slim";`,
    `import "../../lib/mesh/host.ts";`,
  ];
  for (const text of heavy) equal(lightCommands(files(text)).length, 1, text);
  const light = [
    `const { runSimulation } = await import("../simulation.ts");`,
    `import type { Simulation } from "../simulation.ts";`,
  ];
  for (const text of light) deepEqual(lightCommands(files(text)), [], text);
});
