// How do we show the configuration to a person?
import type { ConfigKey, ConfigValue, ServiceValues } from "./key.ts";
import { headingOf } from "./key_heading.ts";
import { keyNamed, schema } from "./schema.ts";
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
  /** One of `keyHeadings`. */
  readonly heading: string;
};

/** One value as `config show` prints it; secrets are hidden. */
export type ValueDescription = {
  /** A value of the list `services` is `services[0].port`. */
  readonly key: string;
  /** As it would stand in the file; empty when there is none. */
  readonly value: string;
  /** The same for a program: numbers, truths, lists and maps are such; `null` when there is none. */
  readonly plain: unknown;
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
    heading: headingOf(row),
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
    if (row.kind !== "services") return [describeValue(row, row.name, value, source, where)];
    const services = value as readonly ServiceValues[];
    if (services.length > 0) return services.flatMap((one, at) => describeService(one, at, source));
    return [{ key: row.name, value: "[]", plain: [], source, where }];
  });
}

function describeService(
  values: ServiceValues,
  at: number,
  source: ConfigSource,
): ValueDescription[] {
  return [...values].map(([name, { value, where }]) => {
    const key = name.replace(/^service/, `services[${at}]`);
    return describeValue(keyNamed(name)!, key, value, source, where);
  });
}

function describeValue(
  row: ConfigKey,
  key: string,
  value: ConfigValue,
  source: ConfigSource,
  where: string,
): ValueDescription {
  const shown = showValue(row, value);
  const isText = row.isSecret || ["duration", "bytes", "string", "path"].includes(row.kind);
  const plain = isText || value === null ? shown || null : value;
  return { key, value: shown, plain, source, where };
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
