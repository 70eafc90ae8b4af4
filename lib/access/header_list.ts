// Is a list of headers from a peer one that HTTP can carry?

/** RFC 9110 §5.6.2; lower case as exchanges carry names. */
const namePattern = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/;
/** RFC 9110 §5.5: no control characters but tab; bytes beyond ASCII are allowed, characters beyond a byte not. */
// deno-lint-ignore no-control-regex -- control characters are what it looks for
const badValuePattern = /[\x00-\x08\x0a-\x1f\x7f]|[^\x00-\xff]/;

/**
 * Says whether a decoded value is a header list: names and values in turn, nothing in them that could end a
 * line and begin another header or request. Sizes are bounded by the frame it came in (64 KiB).
 * @param value Untrusted.
 */
export function isHeaderList(value: unknown): value is string[] {
  if (!Array.isArray(value) || value.length % 2 !== 0) return false;
  for (let at = 0; at < value.length; at += 2) {
    const name: unknown = value[at];
    const text: unknown = value[at + 1];
    if (typeof name !== "string" || typeof text !== "string") return false;
    if (!namePattern.test(name) || badValuePattern.test(text)) return false;
  }
  return true;
}
