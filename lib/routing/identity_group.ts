// By which labels do services stand in for each other?

/** Longer entries match nothing. Room for the longest model ids seen (about 200); a guess. */
export const identityGroupCharsMax = 512;

/** One label of a service, understood. */
export type IdentityGroup =
  /** `all`: serves whatever a request asks for. */
  | { readonly kind: "all" }
  /** `key=*`: serves every request that has the key. */
  | { readonly kind: "wildcard"; readonly key: string }
  /** `key=value`: serves requests whose key has exactly this text. */
  | { readonly kind: "exact"; readonly key: string; readonly value: string };

/** What a request asks for: top-level key to its text, or `null` when present but not a text. */
export type MatchKeys = ReadonlyMap<string, string | null>;

const all: IdentityGroup = { kind: "all" };

/**
 * Reads one entry of a claim. Entries are alternatives: one that matches is enough.
 * @param entry Untrusted; split at its first `=`, so values may contain `=`.
 * @returns `undefined` for entries that can match nothing (no `=`, no key, too long): they are ignored
 * and the other entries still count.
 * @example Values may contain the separator
 * ```ts
 * import { deepEqual } from "node:assert/strict";
 * deepEqual(parseIdentityGroup("model=a=b"), { kind: "exact", key: "model", value: "a=b" });
 * ```
 */
export function parseIdentityGroup(entry: string): IdentityGroup | undefined {
  if (entry === "all") return all;
  if (entry.length > identityGroupCharsMax) return undefined;
  const cut = entry.indexOf("=");
  if (cut <= 0) return undefined;
  const key = entry.slice(0, cut);
  const value = entry.slice(cut + 1);
  return value === "*" ? { kind: "wildcard", key } : { kind: "exact", key, value };
}

/**
 * What the header `X-Otela-Identity-Group` asks for, in place of the request's body.
 * @param header Untrusted value of the header; empty when there is none.
 * @returns `undefined` when the header is absent or has no `key=`: then the body decides.
 */
export function matchKeysOfHeader(header: string): MatchKeys | undefined {
  const cut = header.indexOf("=");
  if (cut <= 0) return undefined;
  return new Map([[header.slice(0, cut), header.slice(cut + 1)]]);
}
