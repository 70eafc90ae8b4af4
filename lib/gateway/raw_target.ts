// What did the client ask for, byte for byte, and does it stay below its prefix?
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

/**
 * Says whether a path leads above its own root for anybody who decodes it once and resolves dots. It
 * counts like the most careless engine: `\` separates, empty segments do not count, `..;x` is `..`.
 * Nothing else is changed by this; what is forwarded stays raw (C022).
 * @param path Raw, beginning with `/`.
 */
export function escapesRoot(path: string): boolean {
  if (!path.includes("..") && !path.includes("%")) return false;
  const decoded = path
    .replaceAll(/%2e/gi, ".").replaceAll(/%2f/gi, "/").replaceAll(/%5c/gi, "\\").replaceAll(
      /%3b/gi,
      ";",
    );
  let depth = 0;
  for (const segment of decoded.split(/[/\\]/)) {
    const name = segment.split(";", 1)[0];
    if (name === "..") depth--;
    else if (name !== "" && name !== ".") depth++;
    if (depth < 0) return true;
  }
  return false;
}

/**
 * The path that goes to the engine.
 * @param path Raw, below the public prefix; empty means the root.
 * @throws {OtelaError} `bad_request` when it leads above its root or has an encoded NUL.
 */
export function scopedPath(path: string): string {
  const rooted = path === "" ? "/" : path;
  if (/%00/.test(rooted) || escapesRoot(rooted)) {
    throw new OtelaError(
      "bad_request",
      "Cannot forward the path as it must stay below its prefix and have no NUL",
    );
  }
  return rooted;
}
