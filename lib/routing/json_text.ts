// Where does a JSON string end, and which text do its bytes mean?

const quote = 0x22;
const backslash = 0x5c;

/** Up to here strings are read byte by byte; beyond, the native search is faster (measured at about 30). */
const nearBytes = 32;

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** `closingQuote`: the chunk ends inside the string. */
export const openString = -1;
/** `closingQuote`: the same, and the first byte of the next chunk is escaped. */
export const openStringEscaping = -2;

/**
 * Finds the end of a JSON string. Linear, and native for long strings, which are most of a long prompt.
 * @param from Inside the string, not behind a backslash that escapes.
 * @returns Place of the closing quote, or `openString` or `openStringEscaping`.
 */
export function closingQuote(chunk: Uint8Array, from: number): number {
  let at = from;
  while (at < chunk.length) {
    const nearEnd = Math.min(chunk.length, at + nearBytes);
    while (at < nearEnd) {
      const byte = chunk[at];
      if (byte === quote) return at;
      at += byte === backslash ? 2 : 1;
    }
    if (at >= chunk.length) break;
    const found = chunk.indexOf(quote, at);
    const end = found === -1 ? chunk.length : found;
    let backslashesStart = end;
    while (backslashesStart > at && chunk[backslashesStart - 1] === backslash) backslashesStart--;
    const isEscaped = (end - backslashesStart) % 2 === 1;
    if (found !== -1 && !isEscaped) return found;
    at = isEscaped ? end + 1 : end;
  }
  return at > chunk.length ? openStringEscaping : openString;
}

/**
 * The text of a JSON string, from the bytes between its quotes.
 * @param bytes Read only; the string is `bytes[start..end)`.
 * @returns `undefined` when an escape is not JSON's: an engine would refuse such a body, so it matches nothing.
 */
export function textOfJsonString(
  bytes: Uint8Array,
  start: number,
  end: number,
): string | undefined {
  let ascii = "";
  for (let at = start; at < end; at++) {
    const byte = bytes[at];
    // Short ASCII texts are built by hand, since calling the decoder costs more than they do.
    if (byte >= 0x80 || byte === backslash || at - start === 64) {
      return decodeSlowly(bytes.subarray(start, end));
    }
    ascii += String.fromCharCode(byte);
  }
  return ascii;
}

function decodeSlowly(bytes: Uint8Array): string | undefined {
  const text = decoder.decode(bytes);
  if (!bytes.includes(backslash)) return text;
  try {
    // Control characters are not valid in JSON strings and fail here too; without escapes they pass.
    return JSON.parse(`"${text}"`) as string;
  } catch {
    return undefined;
  }
}
