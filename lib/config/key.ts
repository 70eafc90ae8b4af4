// What do we know of one key of the configuration?

/** Form of a value: durations become milliseconds, byte sizes bytes, paths absolute. */
export type KeyKind =
  | "string"
  | "int"
  | "float"
  | "bool"
  | "duration"
  | "bytes"
  | "path"
  | "list"
  | "map"
  | "services";

/**
 * `implemented`: does what its help says. `not_yet`: known from the original, does nothing here so far.
 * `dead`: nothing reads it, in the original or here.
 */
export type KeyStatus = "implemented" | "not_yet" | "dead";

/** One value and the place where it stands. */
export type Placed = { readonly value: ConfigValue; readonly where: string };

/** The values of one entry of `services`, by the full name of the `service.*` key. */
export type ServiceValues = ReadonlyMap<string, Placed>;

/** A decoded value; `null` means nothing is set and nothing is the default. */
export type ConfigValue =
  | string
  | number
  | boolean
  | readonly string[]
  | Readonly<Record<string, string>>
  | readonly ServiceValues[]
  | null;

/** One row of the schema. */
export type ConfigKey = {
  /** Lower case, dots between levels. */
  readonly name: string;
  readonly kind: KeyKind;
  readonly default: ConfigValue;
  /** Where the default comes from: `reference`, `protocol §6`, …, or `guess`. */
  readonly source: string;
  /** One line, no full stop. */
  readonly help: string;
  readonly status: KeyStatus;
  /** Setting it promises protection or payment, or starts something: it must not be ignored. */
  readonly protects: boolean;
  /** Never shown, neither in errors nor by `config show`. */
  readonly isSecret: boolean;
  /** With dashes (`--port`); `null` when there is none. */
  readonly flag: string | null;
  /** `OF_PORT`. */
  readonly env: string;
  /** Older or shorter names of the same key, in the file and the environment. */
  readonly aliases: readonly string[];
  readonly choices: readonly string[] | null;
  /** Bounds of a number, inclusive. */
  readonly min: number;
  readonly max: number;
  /** A text, or each of a list, must match, and `mustBe` says so in words. */
  readonly pattern: RegExp | null;
  readonly mustBe: string;
  /** Whether the file may hold it; the key that finds the file may not stand in it. */
  readonly isInFile: boolean;
};

/** What a row may say beside its first five columns. */
export type KeyOptions = Partial<Omit<ConfigKey, "name" | "kind" | "default" | "env" | "flag">> & {
  /** `true` for the name of the key with two dashes. */
  readonly flag?: string | true;
};

/** `OF_` and the key in capitals, with `.` and `-` as `_`: a shell can export each of them. */
export function envNameOf(keyName: string): string {
  return `OF_${keyName.toUpperCase().replaceAll(/[.-]/g, "_")}`;
}

/** One row of the schema, with the columns that are rarely needed filled in. */
export function key(
  name: string,
  kind: KeyKind,
  defaultValue: ConfigValue,
  source: string,
  help: string,
  options: KeyOptions = {},
): ConfigKey {
  const { flag, ...rest } = options;
  return Object.freeze({
    name,
    kind,
    default: defaultValue,
    source,
    help,
    status: "implemented",
    protects: false,
    isSecret: false,
    aliases: [],
    choices: null,
    min: kind === "float" ? -Infinity : 0,
    max: Number.MAX_SAFE_INTEGER,
    pattern: null,
    mustBe: "",
    isInFile: true,
    ...rest,
    flag: flag === true ? `--${name}` : flag ?? null,
    env: envNameOf(name),
  });
}
