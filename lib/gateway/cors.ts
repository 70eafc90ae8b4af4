// Which pages in browsers may use this node?
import type { HeaderList } from "../exchange/types.ts";

/** Methods that a page may use. */
const methods = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS";

/** Headers that a page may send: what OpenAI's and Anthropic's clients send, and our own. */
const requestHeaders: readonly string[] = [
  "accept",
  "anthropic-beta",
  "anthropic-dangerous-direct-browser-access",
  "anthropic-version",
  "authorization",
  "content-type",
  "idempotency-key",
  "last-event-id",
  "openai-beta",
  "openai-organization",
  "openai-project",
  "origin",
  "user-agent",
  "x-api-key",
  "x-otela-allowed-peers",
  "x-otela-fallback",
  "x-otela-identity-group",
  "x-otela-request-id",
  "x-otela-trust",
  "x-request-id",
  "x-stainless-arch",
  "x-stainless-helper-method",
  "x-stainless-lang",
  "x-stainless-os",
  "x-stainless-package-version",
  "x-stainless-retry-count",
  "x-stainless-runtime",
  "x-stainless-runtime-version",
  "x-stainless-timeout",
  // Harmless without cookies, and newer clients bring newer headers. It never covers `authorization`.
  "*",
];

/** Headers of answers that a page may read besides the few that browsers always show. */
const exposed =
  "content-length, location, retry-after, server-timing, x-computing-node, x-request-id, x-should-retry";

/** Seconds for which browsers remember a preflight: Chromium's own limit. */
const maxAgeS = 7_200;

/** The cross-origin rules of the client door. */
export interface Cors {
  /** Whether pages of this origin may use the node. */
  admits(origin: string): boolean;
  /** Headers of the answer to a request with this `origin`; empty when the origin is none of ours. */
  answer(origin: string): HeaderList;
  /** Headers of the answer to a preflight; without an allowed origin it allows nothing. */
  preflight(origin: string): HeaderList;
}

/**
 * Credentials (cookies) are never allowed: keys travel in a header that the page itself sets.
 * @param origins `["*"]`, none, or exact origins; see `ClientDoorConfig`.
 */
export function createCors(origins: readonly string[]): Cors {
  const isOpen = origins.includes("*");
  const known = new Set(origins);
  function allowOrigin(origin: string): HeaderList {
    if (isOpen) return ["access-control-allow-origin", "*"];
    // Caches must not give one origin's answer to another, nor to a request without an origin.
    const vary = ["vary", "origin"];
    return known.has(origin) ? ["access-control-allow-origin", origin, ...vary] : vary;
  }
  const admits = (origin: string) => isOpen || known.has(origin);
  return {
    admits,
    answer: (origin) =>
      admits(origin)
        ? [...allowOrigin(origin), "access-control-expose-headers", exposed]
        : allowOrigin(origin),
    preflight: (origin) =>
      admits(origin)
        ? [
          ...allowOrigin(origin),
          "access-control-allow-methods",
          methods,
          "access-control-allow-headers",
          requestHeaders.join(", "),
          "access-control-max-age",
          String(maxAgeS),
        ]
        : allowOrigin(origin),
  };
}
