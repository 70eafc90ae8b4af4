// What do the readers of request bodies have in common?
import type { Bytes } from "../base/units.ts";
import type { MatchKeys } from "./identity_group.ts";

/** `more`: feed the next chunk; `done`: nothing further can change the answer; `malformed`: not this format. */
export type ScanState = "more" | "done" | "malformed";

/** Finds what a request asks for while its body passes by. Bytes are only read, never kept or changed. */
export interface KeyScanner {
  /**
   * Reads the next bytes of the body, cut anywhere. After `done` and `malformed` further bytes are ignored.
   * @param chunk Still the caller's after the call.
   */
  push(chunk: Uint8Array): ScanState;
  /** The body has ended. An empty body is `done`; one that stops in the middle is `malformed`. */
  finish(): "done" | "malformed";
  /** What was found so far; a key that occurs twice has its first value. */
  keys(): MatchKeys;
  /**
   * Whether every key is found that decides who serves. A long body need not be held back any longer, even if
   * `stream` was wanted as well and has not come yet.
   */
  readonly hasAllKeys: boolean;
  /** Whether a top-level `stream` is true; only looked for when it is among the wanted keys. */
  readonly isStream: boolean;
}

/** Keys and values longer than this match nothing, so nothing longer is held (see `identityGroupCharsMax`). */
export const scanTokenBytesMax: Bytes = 4096;

/** The keys to look for, prepared once per view and used by every request. */
export type WantedKeys = {
  readonly names: readonly string[];
  /** The names as UTF-8, in the same order. */
  readonly bytes: readonly Uint8Array[];
  /** The first so many names decide who serves; a `stream` behind them is only wanted for itself. */
  readonly matchCount: number;
  /** Place of `stream` among the names, -1 when it is not wanted. */
  readonly streamIndex: number;
};

/**
 * Prepares a set of keys for scanners.
 * @param matchNames Keys that decide who serves. Duplicates are harmless; without any wanted key a scan is done
 * at its first byte.
 * @param options `withStream`: look for `stream` too. A scan is `done` then only once it was seen or the body is
 * over, but see `hasAllKeys`.
 */
export function wantKeys(
  matchNames: readonly string[],
  { withStream = false }: { withStream?: boolean } = {},
): WantedKeys {
  const names = new Set(matchNames);
  const matchCount = names.size;
  if (withStream) names.add("stream");
  const unique = [...names];
  const encoder = new TextEncoder();
  return {
    names: unique,
    bytes: unique.map((name) => encoder.encode(name)),
    matchCount,
    streamIndex: unique.indexOf("stream"),
  };
}

/** What scanners have found so far; a value that was not found is `undefined`, in the order of the names. */
export function foundKeys(
  { names }: WantedKeys,
  values: readonly (string | null | undefined)[],
): MatchKeys {
  const found = new Map<string, string | null>();
  for (let index = 0; index < values.length; index++) {
    const value = values[index];
    if (value !== undefined) found.set(names[index], value);
  }
  return found;
}

/** Place of a key among the wanted ones by its bytes, -1 when it is none of them. Allocates nothing. */
export function wantedIndexOf(
  wanted: WantedKeys,
  chunk: Uint8Array,
  start: number,
  end: number,
): number {
  const length = end - start;
  for (let index = 0; index < wanted.bytes.length; index++) {
    const bytes = wanted.bytes[index];
    if (bytes.length !== length) continue;
    let at = 0;
    while (at < length && bytes[at] === chunk[start + at]) at++;
    if (at === length) return index;
  }
  return -1;
}
