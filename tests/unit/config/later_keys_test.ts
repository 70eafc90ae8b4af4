import { deepEqual, equal, match } from "node:assert/strict";
import { schema } from "../../../lib/config/schema.ts";
import type { ConfigKey } from "../../../lib/config/key.ts";
import { loadText, problemsOf } from "./load_text.ts";

/** A value that is not the default. */
function other(row: ConfigKey): string {
  if (row.choices) return row.choices.find((choice) => choice !== row.default && choice !== "")!;
  if (row.kind === "bool") return String(!row.default);
  if (row.kind === "duration") return "77s";
  return { int: "77", float: "7.5", list: "x", string: "other" }[row.kind as string] ?? "other";
}

const withoutEffect = schema.filter((row) => row.status !== "implemented");

Deno.test("loadConfig stops at each key that promises protection or payment, in file and environment", () => {
  for (const row of withoutEffect.filter((row) => row.protects)) {
    const message = /is set, but this version cannot enforce it/;
    match(problemsOf(`${row.name}: ${other(row)}`).join(), message, row.name);
    match(problemsOf(undefined, { env: { [row.env]: other(row) } }).join(), message, row.name);
  }
});

Deno.test("loadConfig stops at everything under security, billing and rates, and at engines as children", () => {
  const must = schema.filter(({ name }) =>
    /^(security|billing|rates)\.|^(trusted_wallets|subprocess|component)$/.test(name)
  );
  equal(must.length, 23);
  deepEqual(must.filter((row) => !row.protects), []);
});

Deno.test("loadConfig warns once of every other key that does nothing", () => {
  for (const row of withoutEffect.filter((row) => !row.protects)) {
    const { warnings } = loadText(`${row.name}: ${other(row)}`);
    equal(warnings.length, 1, row.name);
    match(warnings[0], /cfg\.yaml:1:1: ".+" has no effect/);
  }
});

Deno.test("loadConfig is silent about keys that hold their default, as the original writes them all", () => {
  const lines = withoutEffect.filter(({ default: value }) => value !== null).map((row) =>
    `${row.name}: ${
      row.kind === "duration" ? `${row.default as number / 1_000}s` : JSON.stringify(row.default)
    }`
  );
  deepEqual(loadText(lines.join("\n")).warnings, []);
});

Deno.test("loadConfig shows no secret of a key that it refuses", () => {
  const [problem] = problemsOf("security.control_plane.token: hush-hush");
  equal(problem.includes("hush"), false);
});
