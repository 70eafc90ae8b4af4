// What do flags and environment say, key by key?
import { decodeText, type PathBase } from "./decode_text.ts";
import { decodeTree } from "./decode_tree.ts";
import type { ConfigKey, Placed } from "./key.ts";
import { nearest } from "./nearest.ts";
import type { ConfigProblem } from "./problem.ts";
import { envNames, keyOfEnv, schema } from "./schema.ts";
import { readYaml } from "./yaml_tree.ts";

/** Flags as a command line has them, by long name without dashes: `{ port: "8092", label: ["a=b"] }`. */
export type FlagValues = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;

const flagOwners = new Map(schema.filter((row) => row.flag).map((row) => [row.flag, row]));

/**
 * Values of the flags that were given.
 * @param flags `undefined` entries are as good as absent; a list is joined for maps and lists.
 */
export function decodeFlags(
  flags: FlagValues,
  base: PathBase,
  problems: ConfigProblem[],
): Map<string, Placed> {
  const values = new Map<string, Placed>();
  for (const [name, given] of Object.entries(flags)) {
    if (given === undefined) continue;
    const where = `--${name}`;
    const row = flagOwners.get(where);
    if (row === undefined) {
      problems.push({ where, key: "", message: "is no flag of the configuration" });
    } else if (given === "" && row.default === null) {
      continue; // As in a file: the original's scripts pass what they have, `--service.port "$PORT"`.
    } else if (typeof given === "object") {
      // Each occurrence may hold several entries itself: `--bootstrap a,b --bootstrap c`.
      decodeInto(values, row, given.join(" "), where, base, problems);
    } else decodeInto(values, row, String(given), where, base, problems);
  }
  return values;
}

/**
 * Values of the `OF_` variables; an empty one counts as not set.
 * @param warnings Variables that are no key are named here: they may belong to another version.
 */
export function decodeEnv(
  env: Readonly<Record<string, string | undefined>>,
  base: PathBase,
  problems: ConfigProblem[],
  warnings: string[],
): Map<string, Placed> {
  const values = new Map<string, Placed>();
  for (const name of Object.keys(env).filter((name) => name.startsWith("OF_")).sort()) {
    const text = env[name];
    const row = keyOfEnv(name);
    if (row === undefined) {
      const near = nearest(name, envNames());
      const hint = near === undefined ? "it is ignored" : `did you mean ${near}?`;
      warnings.push(`${name} is no variable of this version: ${hint}`);
    } else if (text !== undefined && text !== "") {
      decodeInto(values, row, text, name, base, problems);
    }
  }
  return values;
}

function decodeInto(
  values: Map<string, Placed>,
  row: ConfigKey,
  text: string,
  where: string,
  base: PathBase,
  problems: ConfigProblem[],
): void {
  if (row.kind === "services") return decodeServices(values, text, where, base, problems);
  const decoded = decodeText(row, text, base);
  const earlier = values.get(row.name);
  if (!decoded.ok) problems.push({ where, key: "", message: decoded.message });
  else if (earlier === undefined) values.set(row.name, { value: decoded.value, where });
  else problems.push({ where, key: "", message: `sets the same as ${earlier.where}: unset one` });
}

/** The list of services is JSON in the environment, and JSON is YAML. */
function decodeServices(
  values: Map<string, Placed>,
  text: string,
  where: string,
  base: PathBase,
  problems: ConfigProblem[],
): void {
  const { tree, problems: found } = readYaml(text, () => where);
  problems.push(...found);
  const entries = [{ name: "services", where, value: tree }];
  for (const [key, placed] of decodeTree({ type: "map", where, entries }, base, problems)) {
    values.set(key, placed);
  }
}

/** Whether a repeated flag adds to the earlier ones. */
export function isRepeatable(row: ConfigKey): boolean {
  return row.kind === "list" || row.kind === "map";
}
