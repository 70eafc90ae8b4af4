// What does a text from a flag, a variable or the file mean for a key?
import { isAbsolute, join, normalize } from "node:path";
import { parseBytes, parseDuration } from "../base/units.ts";
import type { ConfigKey, ConfigValue } from "./key.ts";

/** Longer values are refused unread: no key needs them. Guess. */
const textCharactersMax = 65_536;
export const listEntriesMax = 1_024;
export const mapEntriesMax = 64;
export const mapCharactersMax = 256;
const quotedCharactersMax = 80;

/** From where relative paths start, and what `~` stands for. */
export type PathBase = { readonly directory: string; readonly home: string | null };

/** A value, or what must hold and what holds now. */
export type Decoded =
  | { readonly ok: true; readonly value: ConfigValue }
  | { readonly ok: false; readonly message: string };

/** A fault in words; a secret is never quoted. */
export function fault(row: ConfigKey, mustBe: string, got: string): Decoded {
  const shown = got.length > quotedCharactersMax ? `${got.slice(0, quotedCharactersMax)}…` : got;
  const what = row.isSecret ? "got something else" : `got "${shown}"`;
  return { ok: false, message: `must be ${mustBe}: ${what}` };
}

const value = (value: ConfigValue): Decoded => ({ ok: true, value });

/**
 * Decodes one text by the kind of its key. Lists and maps take JSON, else entries between commas or white
 * space; `bootstrap.addr` also semicolons, as in the original. Booleans are `true`, `false`, `1`, `0` only.
 * @param text Untrusted. Empty means an empty list or map, and is a fault for a number.
 */
export function decodeText(row: ConfigKey, text: string, base: PathBase): Decoded {
  if (text.length > textCharactersMax) {
    return fault(row, `at most ${textCharactersMax} characters`, `${text.length} characters`);
  }
  switch (row.kind) {
    case "string":
      return decodeString(row, text);
    case "path":
      return decodePath(row, text, base);
    case "bool":
      if (text === "true" || text === "1") return value(true);
      if (text === "false" || text === "0") return value(false);
      return fault(row, "true, false, 1 or 0", text);
    case "list":
      return decodeList(row, text);
    case "map":
      return decodeMap(row, text);
    case "services":
      return fault(row, "a list of services", text);
    default:
      return decodeNumber(row, text);
  }
}

function decodeString(row: ConfigKey, text: string): Decoded {
  if (row.choices && !row.choices.includes(text)) {
    return fault(row, `one of ${row.choices.filter((c) => c !== "").join(", ")}`, text);
  }
  if (row.pattern && !row.pattern.test(text)) return fault(row, row.mustBe, text);
  if (text.includes("\0")) return fault(row, "without a zero byte", text);
  return value(text);
}

/** An absolute path: `~` is the home, anything relative starts where it was written. */
export function expandPath(text: string, { directory, home }: PathBase): string | undefined {
  if (text.includes("\0")) return undefined;
  if (text === "~" || text.startsWith("~/")) {
    return home === null ? undefined : join(home, text.slice(1));
  }
  return isAbsolute(text) ? normalize(text) : join(directory, text);
}

function decodePath(row: ConfigKey, text: string, base: PathBase): Decoded {
  const path = expandPath(text, base);
  if (path === undefined) return fault(row, "a path (and ~ needs HOME to be set)", text);
  return value(path);
}

function decodeNumber(row: ConfigKey, text: string): Decoded {
  const { words, parse } = numbers[row.kind as keyof typeof numbers];
  const number = parse(text.trim());
  const range = rangeOf(row);
  if (number === undefined || !Number.isFinite(number)) return fault(row, words + range, text);
  if (number < row.min || number > row.max) return fault(row, words + range, text);
  return value(number);
}

const numbers = {
  int: { words: "a whole number", parse: parseInteger },
  float: { words: "a number", parse: parseFloatText },
  duration: { words: `a duration such as "10s" or "1h30m"`, parse: parseDuration },
  bytes: { words: `a size such as "512KiB" or "4MiB"`, parse: parseBytes },
};

function parseInteger(text: string): number | undefined {
  if (!/^[+-]?\d{1,16}$/.test(text)) return undefined;
  return Number.isSafeInteger(Number(text)) ? Number(text) : undefined;
}

function parseFloatText(text: string): number | undefined {
  return /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(text) ? Number(text) : undefined;
}

function rangeOf({ kind, min, max }: ConfigKey): string {
  const unit = kind === "duration" ? " ms" : kind === "bytes" ? " bytes" : "";
  if (max < Number.MAX_SAFE_INTEGER) return ` from ${min} to ${max}${unit}`;
  return min > 0 ? ` of at least ${min}${unit}` : "";
}

function decodeList(row: ConfigKey, text: string): Decoded {
  const trimmed = text.trim();
  let entries: unknown[];
  if (trimmed.startsWith("[")) {
    const parsed = parseJson(trimmed);
    if (!Array.isArray(parsed)) return fault(row, "a list (JSON, commas or white space)", text);
    entries = parsed;
  } else {
    const separator = row.name === "bootstrap.addr" ? /[\s,;]+/ : /[\s,]+/;
    entries = trimmed.split(separator).filter((entry) => entry !== "");
  }
  return checkList(row, entries);
}

/** A list of texts, each as the row wants it; numbers become texts, anything else is a fault. */
export function checkList(row: ConfigKey, entries: readonly unknown[]): Decoded {
  if (entries.length > listEntriesMax) {
    return fault(row, `at most ${listEntriesMax} entries`, `${entries.length} entries`);
  }
  const wrong = entries.find((entry) => typeof entry !== "string" && typeof entry !== "number");
  if (wrong !== undefined) return fault(row, "a list of texts", JSON.stringify(wrong));
  const texts = entries.map(String);
  const { pattern } = row;
  const unfit = pattern && texts.find((text) => !pattern.test(text));
  if (typeof unfit === "string") return fault(row, row.mustBe, unfit);
  return value(texts);
}

function decodeMap(row: ConfigKey, text: string): Decoded {
  const trimmed = text.trim();
  if (trimmed.startsWith("{")) {
    const parsed = parseJson(trimmed);
    if (typeof parsed !== "object" || parsed === null) return fault(row, "a JSON object", text);
    return checkMap(row, Object.entries(parsed));
  }
  const entries: [string, string][] = [];
  for (const pair of trimmed.split(/[\s,]+/).filter((entry) => entry !== "")) {
    const at = pair.indexOf("=");
    if (at < 1) return fault(row, "key=value pairs or a JSON object", pair);
    entries.push([pair.slice(0, at), pair.slice(at + 1)]);
  }
  return checkMap(row, entries);
}

/** A map of texts to texts, bounded; a later entry of the same name wins. */
export function checkMap(row: ConfigKey, entries: readonly [string, unknown][]): Decoded {
  if (entries.length > mapEntriesMax) {
    return fault(row, `at most ${mapEntriesMax} entries`, `${entries.length} entries`);
  }
  const map: Record<string, string> = Object.create(null);
  for (const [name, entry] of entries) {
    if (!["string", "number", "boolean"].includes(typeof entry)) {
      return fault(row, "a map of texts", JSON.stringify(entry) ?? "nothing");
    }
    const text = String(entry);
    if (name === "" || name.length > mapCharactersMax || text.length > mapCharactersMax) {
      return fault(row, `names and values of at most ${mapCharactersMax} characters`, name);
    }
    map[name] = text;
  }
  return value(map);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // The caller says what would have been right.
  }
}
