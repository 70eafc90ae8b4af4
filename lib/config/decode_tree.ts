// Which keys does a YAML tree set, and to what?
import {
  checkList,
  checkMap,
  type Decoded,
  decodeText,
  fault,
  type PathBase,
} from "./decode_text.ts";
import type { ConfigKey, Placed, ServiceValues } from "./key.ts";
import { nearest } from "./nearest.ts";
import type { ConfigProblem } from "./problem.ts";
import { isSection, keyNamed, namesInFile } from "./schema.ts";
import type { Tree } from "./yaml_tree.ts";

/** More services than a node could check. Guess. */
const servicesMax = 256;

/**
 * Decodes a whole configuration file. Levels may be nested or written with dots, in any case.
 * @param prefix Put before every name: empty for a file, `service.` for an entry of `services`.
 * @param problems What is wrong is added here; the keys around it are still decoded.
 * @returns Only keys that are set: an empty value is as good as none, except for texts and lists.
 */
export function decodeTree(
  tree: Tree,
  base: PathBase,
  problems: ConfigProblem[],
  prefix = "",
): Map<string, Placed> {
  const values = new Map<string, Placed>();
  if (tree.type === "empty") return values;
  if (tree.type !== "map") {
    problems.push({ where: tree.where, key: prefix.slice(0, -1), message: "must hold key: value" });
    return values;
  }
  for (const { name, where, value } of tree.entries) {
    const full = prefix + name;
    const row = keyNamed(full);
    const isLevel = isSection(full) && (value.type === "map" || row === undefined);
    const problem = (message: string) => problems.push({ where, key: full, message });
    if (isLevel) {
      for (const [key, placed] of decodeTree(value, base, problems, `${full}.`)) {
        set(values, key, placed, problems);
      }
    } else if (row === undefined || (prefix === "service." && !row.name.startsWith("service."))) {
      problem(unknownWords(full, prefix));
    } else if (!row.isInFile) {
      problem(`cannot stand in the file: use ${row.flag ?? row.env} or ${row.env}`);
    } else {
      const decoded = decodeValue(row, value, base, problems);
      if (decoded === undefined) continue;
      if (decoded.ok) set(values, row.name, { value: decoded.value, where }, problems);
      else problems.push({ where: value.where, key: full, message: decoded.message });
    }
  }
  return values;
}

function set(
  values: Map<string, Placed>,
  key: string,
  placed: Placed,
  problems: ConfigProblem[],
): void {
  const earlier = values.get(key);
  if (earlier === undefined) values.set(key, placed);
  else {
    const message = `is given twice, first at ${earlier.where}: remove one`;
    problems.push({ where: placed.where, key, message });
  }
}

function unknownWords(name: string, prefix: string): string {
  const names = namesInFile().filter((known) => known.startsWith(prefix.toLowerCase()));
  const near = nearest(name, names);
  return near === undefined
    ? "is no key of the configuration: remove it"
    : `is no key of the configuration: did you mean "${near}"?`;
}

function decodeValue(
  row: ConfigKey,
  tree: Tree,
  base: PathBase,
  problems: ConfigProblem[],
): Decoded | undefined {
  if (tree.type === "empty") return undefined;
  if (row.kind === "services") return decodeServices(row, tree, base, problems);
  if (tree.type === "scalar") {
    if (row.kind === "string" && tree.isBool) return fault(row, "a text in quotes", tree.text);
    if (tree.text === "" && !["string", "list", "map"].includes(row.kind)) return undefined;
    // The original writes `""` for texts that are not set, where ours have no value.
    if (tree.text === "" && row.default === null) return undefined;
    return decodeText(row, tree.text, base);
  }
  if (tree.type === "list" && row.kind === "list") {
    return checkList(row, tree.items.map(plain));
  }
  if (tree.type === "map" && row.kind === "map") {
    return checkMap(row, tree.entries.map((entry) => [entry.name, plain(entry.value)]));
  }
  return fault(row, kindWords(row), tree.type === "list" ? "a list" : "key: value pairs");
}

function plain(tree: Tree): unknown {
  if (tree.type === "scalar") return tree.text;
  return tree.type === "empty" ? null : [];
}

function kindWords({ kind }: ConfigKey): string {
  if (kind === "list") return "a list";
  return kind === "map" ? "key: value pairs" : "a single value";
}

function decodeServices(
  row: ConfigKey,
  tree: Tree,
  base: PathBase,
  problems: ConfigProblem[],
): Decoded {
  if (tree.type !== "list") {
    const got = tree.type === "scalar" ? tree.text : "key: value pairs";
    return fault(row, "a list of services", got);
  }
  if (tree.items.length > servicesMax) {
    return fault(row, `at most ${servicesMax} services`, `${tree.items.length} services`);
  }
  const services: ServiceValues[] = tree.items.map((item) => {
    const values = decodeTree(item, base, problems, "service.");
    if (!values.has("service.name")) {
      problems.push({ where: item.where, key: "services", message: "needs a name in each entry" });
    }
    return values;
  });
  return { ok: true, value: services };
}
