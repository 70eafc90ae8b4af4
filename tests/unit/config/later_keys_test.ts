import { deepEqual, equal, match } from "node:assert/strict";
import { schema } from "../../../lib/config/schema.ts";
import type { ConfigKey } from "../../../lib/config/key.ts";
import { loadText, problemsOf, readInput } from "./load_text.ts";

/** A value that is not the default. */
function other(row: ConfigKey): string {
  if (row.choices) return row.choices.find((choice) => choice !== row.default && choice !== "")!;
  if (row.kind === "bool") return String(!row.default);
  if (row.kind === "duration") return "77s";
  return { int: "77", float: "7.5", list: "x", string: "other" }[row.kind as string] ?? "other";
}

const withoutEffect = schema.filter((row) => row.status !== "implemented");

Deno.test("loadConfig stops at each key that promises protection or payment, in file and environment", () => {
  for (const row of withoutEffect.filter((row) => row.protects && row.default !== true)) {
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
  const silent = withoutEffect.filter((row) =>
    row.default !== null && !(row.protects && row.default === true)
  );
  const lines = silent.map((row) =>
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

Deno.test("loadConfig takes a protection that is switched off, and warns of one that the original has on", () => {
  deepEqual(loadText("security.require_signed_binary: false").warnings, []);
  const { warnings } = loadText("security.require_signed_binary: true");
  equal(warnings.length, 1);
  match(warnings[0], /"security.require_signed_binary" has no effect in this version/);
});

Deno.test("loadConfig loads the file that the original writes by itself", () => {
  const file = readInput("original-seeded-cfg.yaml");
  const { config, warnings } = loadText(file);
  equal(config.doors.httpPort, 8092);
  equal(config.routing.maxResponseBufferBytes, 67_108_864);
  deepEqual(config.services, []);
  deepEqual(warnings.map((warning) => warning.split('"')[1]), ["security.require_signed_binary"]);
});
