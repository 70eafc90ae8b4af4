// What does a saved document say?
import { free, ImmutableString, load } from "@automerge/automerge/slim";
import type { Claim } from "./claim.ts";
import { decodeClaim } from "./decode_claim.ts";

/** Which process wrote a document: read only when two processes use one key. */
export type ClaimOrigin = {
  /** Host name, at most 256 characters. */
  readonly host: string;
  /** How long the process had run when it began this document. */
  readonly uptimeMs: number;
};

/** What a document says. */
export type LoadedClaim = { readonly claim: Claim; readonly origin: ClaimOrigin };

/**
 * Reads a saved document. Hostile bytes can take seconds and gigabytes here: documents of others are loaded
 * in the loader thread only.
 * @throws {OtelaError} `envelope_invalid` when it holds no valid claim.
 * @throws {Error} Whatever Automerge says when it is no document.
 */
export function loadClaim(document: Uint8Array): LoadedClaim {
  const doc = load<Record<string, unknown>>(document);
  try {
    const root = toPlain(doc, { nodesLeft: nodesMax }) as Record<string, unknown>;
    return { claim: decodeClaim(root), origin: originOf(root.origin) };
  } finally {
    free(doc);
  }
}

/** Values in a document, far above what an honest claim of 16 KiB unfolds to. */
const nodesMax = 20_000;
const hostLengthMax = 256;

function originOf(value: unknown): ClaimOrigin {
  const { host, uptimeMs } = (typeof value === "object" && value !== null ? value : {}) as Record<
    string,
    unknown
  >;
  return {
    host: typeof host === "string" ? host.slice(0, hostLengthMax) : "",
    uptimeMs: typeof uptimeMs === "number" && uptimeMs >= 0 ? uptimeMs : 0,
  };
}

/** Automerge's own value types become plain ones; what a claim never holds (dates, bytes) is left as it is. */
function toPlain(value: unknown, budget: { nodesLeft: number }): unknown {
  if (--budget.nodesLeft < 0) throw new RangeError(`A claim has at most ${nodesMax} values`);
  if (value instanceof ImmutableString) return value.val;
  if (Array.isArray(value)) return value.map((item) => toPlain(item, budget));
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return value;
  const entries = Object.entries(value).map(([key, item]) => [key, toPlain(item, budget)] as const);
  return Object.fromEntries(entries);
}
