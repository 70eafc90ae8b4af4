// Does any text break the configuration? It may be refused, never crash and never hang.
import { ok } from "node:assert/strict";
import { cpuUsage } from "node:process";
import fc from "fast-check";
import { OtelaError } from "../../../lib/base/errors.ts";
import { schema } from "../../../lib/config/schema.ts";
import { loadText } from "./load_text.ts";

/**
 * The largest file takes 0.3 s of a processor, and worse than linear work would take minutes; tests that run beside
 * this one in the same process count too.
 */
const loadMsMax = 15_000;

function survives(load: () => unknown): void {
  const startedAt = cpuUsage(); // What others do on this machine is none of ours.
  try {
    load();
  } catch (error) {
    if (!(error instanceof OtelaError && error.code === "config_invalid")) throw error;
    ok(error.message.length < 65_536, "the message stays readable");
  }
  ok(cpuUsage(startedAt).user / 1_000 < loadMsMax, "it must not take long");
}

const words = [
  ...schema.flatMap(({ name }) => name.split(".")),
  ...[
    "&a",
    "*a",
    "<<",
    "!!int",
    "[",
    "]",
    "{",
    "}",
    "|",
    ">",
    "'",
    '"',
    "#",
    "---",
    "%YAML 1.1",
    "? ",
    "- ",
  ],
  ...["0x1f", ".inf", "~", "null", "on", "1e309", "\u2028", "\uFEFF", "__proto__", "constructor"],
];
const yaml = fc.array(
  fc.tuple(
    fc.constantFrom("", "  ", "    ", "\t"),
    fc.oneof(fc.constantFrom(...words), fc.string({ maxLength: 12, unit: "binary" })),
    fc.constantFrom(":", ": ", " ", "\n", ":\n", "\r\n"),
    fc.oneof(fc.constantFrom(...words), fc.integer().map(String), fc.string({ maxLength: 12 })),
    fc.constantFrom("\n", "\r\n", ", ", ""),
  ).map((parts) => parts.join("")),
  { maxLength: 20 },
).map((lines) => lines.join(""));

Deno.test("loadConfig survives any YAML-like text", () => {
  fc.assert(fc.property(yaml, (text) => survives(() => loadText(text))), {
    numRuns: 1_500,
    seed: 7,
  });
});

Deno.test("loadConfig survives any bytes", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => survives(() => loadText(bytes))),
    { numRuns: 500, seed: 7 },
  );
});

Deno.test("loadConfig survives any value of any variable and flag", () => {
  const env = fc.dictionary(fc.constantFrom(...schema.map((row) => row.env), "OF_X"), fc.string());
  fc.assert(fc.property(env, (env) => survives(() => loadText(undefined, { env }))), {
    numRuns: 500,
    seed: 7,
  });
});

const hostile: [string, string][] = [
  ["deep brackets", "[".repeat(100_000)],
  ["deep levels", Array.from({ length: 500 }, (_, n) => `${" ".repeat(n)}a:\n`).join("")],
  ["very many keys", Array.from({ length: 12_000 }, (_, n) => `k${n}: 1\n`).join("")],
  ["very many duplicates", "port: 1\n".repeat(16_000)],
  [
    "aliases that multiply",
    [
      "a: &a [x,x,x,x,x,x,x,x,x]",
      ...["b", "c", "d", "e", "f", "g", "h", "i"].map((name, n) => {
        const before = "abcdefgh"[n];
        return `${name}: &${name} [${`*${before},`.repeat(8)}*${before}]`;
      }),
      "services: *i",
    ].join("\n"),
  ],
  ["an alias of itself", "services: &a [*a]\n"],
  ["one very long line", `name: ${"x".repeat(120_000)}`],
  ["too much of everything", "x".repeat(1_000_000)],
];
for (const [name, text] of hostile) {
  Deno.test(`loadConfig refuses ${name} in bounded time`, () => survives(() => loadText(text)));
}
