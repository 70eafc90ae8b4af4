// How is one header found in a flat list?

/** The value of one header, empty when there is none. @param headers Names in lower case and values in turn. */
export function headerOf(headers: readonly string[], name: string): string {
  for (let at = 0; at < headers.length; at += 2) if (headers[at] === name) return headers[at + 1];
  return "";
}

/** A method, or the name of a header (RFC 9110 §5.6.2). */
export const httpToken = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
