import { deepEqual, equal } from "node:assert/strict";
import { everyCaseTested } from "../../tidy/case_ids.ts";
import { noOldClosures } from "../../tidy/garbage.ts";
import {
  exactVersions,
  explainedDependencies,
  namedPermissions,
  topLevel,
  topLevelAsAgreed,
  usedDependencies,
} from "../../tidy/project.ts";
import { exitOnlyOutside, pureCore } from "../../tidy/purity.ts";
import {
  fileLength,
  noDefaultExports,
  noSleepInTests,
  noTestSwitchedOff,
  nothingLeftForLater,
  opensWithQuestion,
} from "../../tidy/shape.ts";

const whats = (findings: { what: string }[]) => findings.map(({ what }) => what);

Deno.test("pureCore finds waiting, clock, chance and machine in a core folder only", () => {
  const text = `import { createHash } from "node:crypto";
export async function f(): Promise<void> {
  await fetch("x");
  Date.now(); performance.now(); Math.random(); crypto.randomUUID(); Deno.cwd();
  setTimeout(f, 1);
}`;
  deepEqual(whats(pureCore([{ path: "lib/lane/f.ts", text }])), [
    "async",
    "await",
    "fetch",
    "Date",
    "performance",
    "Math.random",
    "crypto",
    "Deno",
    "setTimeout",
    "imports node:crypto",
  ]);
  deepEqual(pureCore([{ path: "lib/exchange/f.ts", text }]), []);
});

Deno.test("pureCore lets comments, members and keys of those names be", () => {
  const text = `// await Date.now()
type Ports = { fetch: (url: string) => void; crypto?: string };
export const now = (ports: Ports) => ports.fetch("Deno");`;
  deepEqual(pureCore([{ path: "lib/lane/f.ts", text }]), []);
});

Deno.test("exitOnlyOutside finds a library that ends its process", () => {
  const text = "Deno.exit(1);";
  equal(exitOnlyOutside([{ path: "lib/node/node.ts", text }]).length, 1);
  equal(exitOnlyOutside([{ path: "main.ts", text }, { path: "cli/run.ts", text }]).length, 0);
});

Deno.test("noOldClosures finds functions that are written into a property, where requests run", () => {
  const text = `a.b = () => 1;
a.#b ??= async (x: (y: number) => void): Promise<void> => {};
this.b = function () {};
a.b =
  (x) => x;
const c = () => 1;
a.b = c;
a.b = d(() => 1);
if (a.b === c || a.b >= 1) e = (x) => x;
a.b = { f: () => 1 };`;
  const path = "lib/gateway/f.ts";
  deepEqual(noOldClosures([{ path, text }]).map(({ line }) => line), [1, 2, 3, 4]);
  deepEqual(noOldClosures([{ path: "lib/node/f.ts", text }]), []);
});

Deno.test("noOldClosures finds fields that TypeScript moves into the constructor", () => {
  const text = `class Young {
  readonly f = () => 1;
  constructor(a: number) {}
}
export class Old {
  private readonly f = (): number => this.a;
  g: (x: number) => void = (x) => {};
  h = call(() => 1);
  constructor(private readonly a: number) {}
}
class FlushClock {
  f = () => this.a;
  constructor(private readonly a: number) {}
}`;
  const path = "lib/exchange/f.ts";
  deepEqual(noOldClosures([{ path, text }]).map(({ line }) => line), [6, 7]);
});

Deno.test("fileLength allows 300 lines, and 400 in tests", () => {
  const lines = (count: number) => "x\n".repeat(count);
  deepEqual(
    fileLength([
      { path: "lib/base/a.ts", text: lines(300) },
      { path: "lib/base/b.ts", text: lines(301) },
      { path: "tests/a_test.ts", text: lines(400) },
      { path: "tests/b_test.ts", text: lines(401) },
    ]).map(({ path }) => path),
    ["lib/base/b.ts", "tests/b_test.ts"],
  );
});

Deno.test("opensWithQuestion wants a question in the first comment", () => {
  const findings = opensWithQuestion([
    { path: "lib/base/a.ts", text: "// Who?\nexport {};" },
    { path: "lib/base/b.ts", text: "// Long sentence first,\n// then who?\nexport {};" },
    { path: "lib/base/c.ts", text: "// A helper.\nexport const a = b ? 1 : 2; // Who?" },
    { path: "lib/base/d.ts", text: "/** Who? */\nexport {};" },
  ]);
  deepEqual(findings.map(({ path }) => path), ["lib/base/c.ts", "lib/base/d.ts"]);
});

Deno.test("nothingLeftForLater, noDefaultExports and noTestSwitchedOff find their words", () => {
  const text = `// ${"TO" + "DO"}: later\nexport default 1;`;
  equal(nothingLeftForLater([{ path: "lib/base/a.ts", text }]).length, 1);
  equal(noDefaultExports([{ path: "lib/base/a.ts", text }]).length, 1);
  const tests = `Deno.test.${"ignore"}("a", f);\nDeno.test({ ${"only"}: true, name: "b", fn });`;
  equal(noTestSwitchedOff([{ path: "tests/a_test.ts", text: tests }]).length, 2);
});

Deno.test("noSleepInTests finds a wait for time, not a deadline", () => {
  const [timeout, pause] = ["set" + "Timeout", "de" + "lay"]; // This file must not match itself.
  const text = `await new Promise((resolve) => ${timeout}(resolve, 200));
await ${pause}(500);
while (!isThere()) await new Promise((resolve) => ${timeout}(resolve, 5));
const timer = ${timeout}(() => late.reject(error), 5_000);`;
  equal(noSleepInTests([{ path: "tests/a_test.ts", text }]).length, 2);
});

Deno.test("topLevelAsAgreed tells what is too much and what is missing", () => {
  deepEqual(topLevelAsAgreed(topLevel), []);
  const findings = topLevelAsAgreed(["src", ...topLevel.filter((name) => name !== "docs")]);
  deepEqual(findings.map(({ path }) => path), ["src", "docs"]);
});

Deno.test("dependencies must be exact, explained, used and named in deno.json", () => {
  const imports = {
    "exact": "npm:exact@1.2.3",
    "@a/part": "npm:@a/whole@1.2.3/part",
    "loose": "npm:loose@^1.2.3",
    "url": "https://example.org/mod.ts",
  };
  deepEqual(whats(exactVersions({ imports })), [
    "loose: npm:loose@^1.2.3",
    "url: https://example.org/mod.ts",
  ]);
  deepEqual(whats(explainedDependencies({ imports }, "`exact` does")), [
    "has no line on @a/whole",
  ]);
  const files = [{
    path: "lib/base/a.ts",
    text: `import "exact";\nimport "@a/part";\nimport "loose";\nimport "${"npm"}:other@1.0.0";`,
  }];
  deepEqual(whats(usedDependencies({ imports }, files)), [
    "url is never imported",
    "imports npm:other@1.0.0",
  ]);
});

Deno.test("namedPermissions finds all permissions in what users run", () => {
  const findings = namedPermissions([
    { path: "deno.json", text: `"a": "deno run ${"--allow-" + "all"} x.ts"` },
    { path: "README.md", text: `deno run ${"-" + "A"} main.ts` },
    { path: "docs/HACKING.md", text: "deno run --allow-net main.ts" },
    { path: "tests/a_test.ts", text: `deno run ${"-" + "A"} main.ts` },
  ]);
  deepEqual(findings.map(({ path }) => path), ["deno.json", "README.md"]);
});

Deno.test("everyCaseTested finds ids that name no test", () => {
  const files = [{ path: "tests/a_test.ts", text: `Deno.test("C001: bytes leave unchanged", f);` }];
  deepEqual(whats(everyCaseTested(files, ["C001", "C002"])), ['no test is named "C002: …"']);
  const both = [{
    path: "tests/a_test.ts",
    text: `Deno.test("C049, B55: all hear all (B56)", f);`,
  }];
  deepEqual(whats(everyCaseTested(both, ["C049", "B55", "B56"])), ['no test is named "B56: …"']);
});
