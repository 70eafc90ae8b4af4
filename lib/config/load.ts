// What is this node told to do, and by whom?
import { join } from "node:path";
import { messageOf } from "../base/errors.ts";
import { buildNodeConfig } from "./build_node_config.ts";
import { expandPath, type PathBase } from "./decode_text.ts";
import { decodeTree } from "./decode_tree.ts";
import type { ConfigKey, ConfigValue, Placed } from "./key.ts";
import { decodeEnv, decodeFlags, type FlagValues } from "./layers.ts";
import { findConfigFile, type FoundFile } from "./find_file.ts";
import type { NodeConfig } from "./node_config.ts";
import { configError, type ConfigProblem } from "./problem.ts";
import { schema } from "./schema.ts";
import { type ConfigSource, type Origin, Settings } from "./settings.ts";
import { readYaml } from "./yaml_tree.ts";

/** The outside world, as values: the same sources give the same configuration. */
export type ConfigSources = {
  readonly flags: FlagValues;
  /** The whole environment; only `OF_…` is read. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** A file's bytes; `undefined` when there is none; throws when it cannot be read. Never asked to write. */
  readonly readFile: (path: string) => Uint8Array | undefined;
  /** `null` when unknown: then there is no default file. */
  readonly home: string | null;
  /** Where relative paths of flags and environment start. */
  readonly cwd: string;
};

/** A checked configuration and where each value came from. */
export type LoadedConfig = {
  readonly config: NodeConfig;
  /** By key name, every key of the schema in its order. */
  readonly origins: ReadonlyMap<string, Origin>;
  /** Sentences for a person, each once. */
  readonly warnings: readonly string[];
  /** The file that was read; `null` when there was none. */
  readonly file: string | null;
};

/**
 * The configuration: defaults, under the file, under `OF_` variables, under flags. Nothing is ever written.
 * @throws {OtelaError} `config_invalid`, naming every place that must change, with file, line and column.
 */
export function loadConfig(sources: ConfigSources): LoadedConfig {
  const problems: ConfigProblem[] = [];
  const warnings: string[] = [];
  const base: PathBase = { directory: sources.cwd, home: sources.home };
  const flags = decodeFlags(sources.flags, base, problems);
  const env = decodeEnv(sources.env, base, problems, warnings);
  const found = findConfigFile(sources, (key) => textOf(flags.get(key) ?? env.get(key)), problems);
  const fileBase = { ...base, directory: found === null ? sources.cwd : join(found.path, "..") };
  const file = found === null ? new Map() : decodeFile(found, fileBase, problems);
  const origins = new Map(schema.map((row) => {
    const layers: [ConfigSource, Placed | undefined, string][] = [
      ["flag", flags.get(row.name), sources.cwd],
      ["env", env.get(row.name), sources.cwd],
      ["file", file.get(row.name), fileBase.directory],
    ];
    return [row.name, highest(row, layers, sources.cwd)];
  }));
  judgeLaterKeys(origins, problems, warnings);
  // What is wrong between keys often follows from what is wrong in one.
  if (problems.length > 0) throw configError(problems);
  const readSecret = secretReader(sources, problems);
  const settings = new Settings(origins);
  const config = buildNodeConfig(settings, sources.home, readSecret, problems);
  if (problems.length > 0) throw configError(problems);
  warnings.push(...secretWarnings(settings, config.network.secret));
  return { config: deepFreeze(config), origins, warnings, file: found?.path ?? null };
}

function textOf(placed: Placed | undefined): string | undefined {
  return typeof placed?.value === "string" ? placed.value : undefined;
}

function decodeFile(
  { path, text }: FoundFile,
  base: PathBase,
  problems: ConfigProblem[],
): Map<string, Placed> {
  const { tree, problems: found } = readYaml(text, (line, col) => `${path}:${line}:${col}`);
  problems.push(...found);
  return decodeTree(tree, base, problems);
}

function highest(
  row: ConfigKey,
  layers: readonly [ConfigSource, Placed | undefined, string][],
  cwd: string,
): Origin {
  for (const [source, placed, directory] of layers) {
    if (placed) return Object.freeze({ ...deepFreeze(placed), source, directory });
  }
  return { value: row.default, source: "default", where: row.source, directory: cwd };
}

/** Keys that do nothing here: silent at their default, else a warning, or a stop where silence would harm. */
function judgeLaterKeys(
  origins: ReadonlyMap<string, Origin>,
  problems: ConfigProblem[],
  warnings: string[],
): void {
  for (const row of schema) {
    const { value, source, where } = origins.get(row.name)!;
    if (row.status === "implemented" || source === "default" || asksForNothing(row, value)) {
      continue;
    }
    if (row.protects && !isDefault(row, value)) {
      const message = `is set, but this version cannot enforce it (${row.help}): remove it`;
      problems.push({ where, key: row.name, message });
    } else {
      const verb = row.status === "dead" ? "has no effect" : "has no effect in this version";
      warnings.push(`${where}: "${row.name}" ${verb} (${row.help})`);
    }
  }
}

/**
 * Whether leaving a key without effect changes nothing for whoever set it. A protection that is on by default in
 * the original (`security.require_signed_binary`) asks for something at its default and for nothing when off: its
 * files say `true` without anybody having chosen it, which is worth a warning and no stop.
 */
function asksForNothing(row: ConfigKey, value: ConfigValue): boolean {
  if (row.protects && typeof value === "boolean") return !value;
  return value === "" || isDefault(row, value);
}

function isDefault(row: ConfigKey, value: ConfigValue): boolean {
  return JSON.stringify(value) === JSON.stringify(row.default);
}

/** 16 random characters of base64 are 96 bits. */
const secretCharactersMin = 16;

/** Whoever connects is shown a hash of the secret (protocol §1), and can try short ones out at home. */
function secretWarnings(settings: Settings, secret: string | null): string[] {
  if (secret === null || secret.length >= secretCharactersMin) return [];
  const key = settings.isExplicit("network.secret") ? "network.secret" : "network.secret_file";
  const { where } = settings.origin(key);
  return [
    `${where}: "${key}" is easy to guess: take at least ${secretCharactersMin} random characters`,
  ];
}

/** Longer than any secret. Guess. */
const secretBytesMax = 4_096;

function secretReader({ readFile, home, cwd }: ConfigSources, problems: ConfigProblem[]) {
  return (path: string, key: string, where: string): string | undefined => {
    const fail = (message: string) => {
      problems.push({ where, key, message });
      return undefined;
    };
    const absolute = expandPath(path, { directory: cwd, home }) ?? path;
    try {
      const bytes = readFile(absolute);
      if (bytes === undefined) return fail(`must name a file that exists: "${absolute}" does not`);
      if (bytes.byteLength > secretBytesMax) {
        return fail(`must name a file of at most ${secretBytesMax} bytes: "${absolute}"`);
      }
      const [first] = new TextDecoder("utf-8", { fatal: true }).decode(bytes).split(/\r?\n/);
      return first.trim() || fail(`must name a file whose first line is the secret: "${absolute}"`);
    } catch (error) {
      return fail(`must name a readable file: "${absolute}" gives ${messageOf(error)}`);
    }
  };
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const part of Object.values(value)) deepFreeze(part);
  return Object.freeze(value);
}
