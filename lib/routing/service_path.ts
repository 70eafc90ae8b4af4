// May this path be forwarded to a service?

/** A path longer than that would not fit into an exchange's head (protocol §5) together with headers. */
export const pathCharsMax = 16_384;

/** Why a path is not forwarded. All of them are the client's fault. */
export type PathRefusal =
  /** Decoded and with dots resolved it would leave the service's own paths. */
  | "escapes"
  /** It has a NUL, raw or as `%00`. */
  | "nul"
  /** It has a blank or control character, which no request line may have. */
  | "bad_character"
  | "too_long";

/** What goes to the engine, or why nothing does. */
export type ServicePath =
  | { readonly isForwarded: true; readonly path: string }
  | { readonly isForwarded: false; readonly reason: PathRefusal };

const escapes: ServicePath = { isForwarded: false, reason: "escapes" };
const nul: ServicePath = { isForwarded: false, reason: "nul" };
const badCharacter: ServicePath = { isForwarded: false, reason: "bad_character" };
const tooLong: ServicePath = { isForwarded: false, reason: "too_long" };

const percent = 0x25;
const backslash = 0x5c;
const question = 0x3f;
const slash = 0x2f;
const dot = 0x2e;

/**
 * Checks what follows the service's prefix in a request's raw target. What passes is forwarded byte for byte
 * (`%2F`, `//`, `;`, `+` stay); the check works on a copy that is decoded once and has its dots resolved.
 * Readers differ in what they take for a separator, so the copy is read in every way that could escape: `\` is
 * a separator, empty segments are no depth, and `..;x` is `..`. Broken escapes (`%zz`) mean themselves.
 * @param target Raw path and query, undecoded; an empty path becomes `/`. Only the path is judged.
 * @example What was encoded stays encoded, and encoding hides no way out
 * ```ts
 * import { deepEqual } from "node:assert/strict";
 * deepEqual(checkServicePath("/models/a%2Fb"), { isForwarded: true, path: "/models/a%2Fb" });
 * deepEqual(checkServicePath("/..%2fadmin"), { isForwarded: false, reason: "escapes" });
 * ```
 */
export function checkServicePath(target: string): ServicePath {
  if (target.length > pathCharsMax) return tooLong;
  let isPlain = true;
  let pathEnd = target.length;
  for (let at = 0; at < target.length; at++) {
    const char = target.charCodeAt(at);
    if (char <= 0x20 || char === 0x7f) return char === 0 ? nul : badCharacter;
    if (char === question && pathEnd === target.length) pathEnd = at;
    if (at >= pathEnd) continue;
    if (char === percent || char === backslash) isPlain = false;
    else if (char === dot && (at === 0 || target.charCodeAt(at - 1) === slash)) isPlain = false;
  }
  if (!isPlain) {
    const decoded = decodeOnce(target.slice(0, pathEnd));
    if (decoded.includes("\0")) return nul;
    if (leavesRoot(decoded)) return escapes;
  }
  return { isForwarded: true, path: target.charCodeAt(0) === slash ? target : `/${target}` };
}

/** ASCII escapes only: no other byte can be a separator, a dot or NUL. */
function decodeOnce(path: string): string {
  return path.replace(
    /%([0-7][0-9a-fA-F])/g,
    (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

function leavesRoot(path: string): boolean {
  let depth = 0;
  for (const segment of path.split(/[/\\]/)) {
    const name = segment.split(";", 1)[0];
    if (name === "" || name === ".") continue;
    depth += name === ".." ? -1 : 1;
    if (depth < 0) return true;
  }
  return false;
}
