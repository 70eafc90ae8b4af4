// What did the client ask for, byte for byte?
import { OtelaError } from "../base/errors.ts";

/** A request target, undecoded. */
export type RawTarget = {
  /** Begins with `/`; nothing in it was decoded, joined or resolved. */
  readonly path: string;
  /** With its `?`; empty when there is none. */
  readonly query: string;
};

/**
 * Cuts the target out of the URL that `Deno.serve` builds as `http://` + host + target, without the
 * normalisation that `new URL` would do to `..`, `//` and `%2e`.
 * @throws {OtelaError} `bad_request` when it is no path (`CONNECT`, `OPTIONS *`) or has characters that
 * must be percent-encoded.
 */
export function rawTarget(url: string): RawTarget {
  const start = url.indexOf("/", url.indexOf("//") + 2);
  const target = start < 0 ? "" : url.slice(start);
  const mark = url.indexOf("?");
  if (target === "" || mark >= 0 && mark < start || notInTargets.test(target)) {
    throw new OtelaError(
      "bad_request",
      'Cannot read the request as its target must be a path of visible ASCII characters without "#"',
    );
  }
  if (mark < 0) return { path: target, query: "" };
  return { path: url.slice(start, mark), query: url.slice(mark) };
}

// Outside visible ASCII an engine would see other bytes than the client sent; "#" never reaches a server.
const notInTargets = /[^\x21-\x7e]|#/;
