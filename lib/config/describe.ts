// How do we show the configuration to a person?
import type { ConfigKey, ConfigValue, ServiceValues } from "./key.ts";
import { schema } from "./schema.ts";
import type { ConfigSource, Origin } from "./settings.ts";

/** One key as the reference lists it. */
export type KeyDescription = {
  readonly key: string;
  readonly type: string;
  /** As it would stand in the file; empty when there is none. */
  readonly default: string;
  readonly source: string;
  readonly flag: string;
  readonly env: string;
  readonly aliases: readonly string[];
  readonly choices: readonly string[];
  readonly status: string;
  readonly help: string;
};

/** One value as `config show` prints it; secrets are hidden. */
export type ValueDescription = {
  readonly key: string;
  readonly value: string;
  readonly source: ConfigSource;
  readonly where: string;
};

const wordsOfStatus = { implemented: "implemented", not_yet: "not yet", dead: "no effect" };

/** The whole schema, for the reference. */
export function describeKeys(): KeyDescription[] {
  return schema.map((row) => ({
    key: row.name,
    type: row.kind,
    default: showValue(row, row.default),
    source: row.source,
    flag: row.flag ?? "",
    env: row.env,
    aliases: row.aliases,
    choices: row.choices ?? [],
    status: row.protects ? "not yet; refused when set" : wordsOfStatus[row.status],
    help: row.help,
  }));
}

/**
 * Every key that does something or was set, with its value and origin.
 * @param origins From `loadConfig`.
 */
export function describeValues(origins: ReadonlyMap<string, Origin>): ValueDescription[] {
  return schema.flatMap((row) => {
    const origin = origins.get(row.name);
    if (origin === undefined) return [];
    const { value, source, where } = origin;
    if (row.status !== "implemented" && source === "default") return [];
    return [{ key: row.name, value: showValue(row, value), source, where }];
  });
}

/** A value as it would stand in the file; a secret that is set is `(set)`. */
export function showValue(row: ConfigKey, value: ConfigValue): string {
  if (value === null || value === "") return "";
  if (row.isSecret) return Object.keys(Object(value)).length > 0 ? "(set)" : "";
  if (row.kind === "duration") return showDuration(value as number);
  if (row.kind === "bytes") return showBytes(value as number);
  if (row.kind === "services") return showServices(value as readonly ServiceValues[]);
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function showServices(services: readonly ServiceValues[]): string {
  return JSON.stringify(services.map((values) => String(values.get("service.name")?.value ?? "")));
}

function showDuration(ms: number): string {
  for (const [unit, size] of [["h", 3_600_000], ["m", 60_000], ["s", 1_000]] as const) {
    if (ms >= size && ms % size === 0) return `${ms / size}${unit}`;
  }
  return `${ms}ms`;
}

function showBytes(bytes: number): string {
  for (const [unit, size] of [["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 2 ** 10]] as const) {
    if (bytes >= size && bytes % size === 0) return `${bytes / size}${unit}`;
  }
  return `${bytes}B`;
}
