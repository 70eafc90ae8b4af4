// How is a document changed by no more than what differs?
import { ImmutableString } from "@automerge/automerge/slim";
import { isEqual, isList, isMap, type Plain, type PlainMap } from "./plain_value.ts";

/** A map inside Automerge's `change` callback. */
export type Writable = Record<string, unknown>;

/** Scalars, not collaborative texts: a text costs an operation for every character. */
function toStored(value: Plain): unknown {
  if (typeof value === "string") return new ImmutableString(value);
  if (isList(value)) return value.map(toStored);
  if (!isMap(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, toStored(item)]));
}

/**
 * Makes `target`, which holds `before`, hold `after`; keys in order, so that equal inputs give equal hashes.
 */
export function writeMap(target: Writable, before: PlainMap, after: PlainMap): void {
  for (const key of Object.keys(before).sort()) {
    if (!Object.hasOwn(after, key)) delete target[key];
  }
  for (const key of Object.keys(after).sort()) {
    const old = Object.hasOwn(before, key) ? before[key] : undefined;
    writeValue(target, key, old, after[key]);
  }
}

function writeList(target: unknown[], before: readonly Plain[], after: readonly Plain[]): void {
  let start = 0;
  const shorter = Math.min(before.length, after.length);
  while (start < shorter && isEqual(before[start], after[start])) start++;
  let kept = 0; // Equal items at the end.
  while (kept < shorter - start && isEqual(before.at(-1 - kept), after.at(-1 - kept))) kept++;
  const changed = Math.min(before.length, after.length) - kept;
  for (let at = start; at < changed; at++) {
    writeValue(target as unknown as Writable, at, before[at], after[at]);
  }
  const from = Math.max(start, changed);
  const removedCount = before.length - kept - from;
  const added = after.slice(from, after.length - kept).map(toStored);
  if (removedCount > 0 || added.length > 0) target.splice(from, removedCount, ...added);
}

function writeValue(
  target: Writable,
  key: string | number,
  before: Plain | undefined,
  after: Plain,
): void {
  if (isEqual(before, after)) return;
  if (isMap(before) && isMap(after)) return writeMap(target[key] as Writable, before, after);
  if (isList(before) && isList(after)) return writeList(target[key] as unknown[], before, after);
  target[key] = toStored(after);
}
