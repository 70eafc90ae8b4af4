// How do we compare and print bytes?

/** Lower-case hexadecimal: the form in which hashes and runs are compared and used as map keys. */
export function toHex(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += hexOf[byte];
  return text;
}

/**
 * Bytes of a hexadecimal text of our own making.
 * @param hex Even length, digits only; not for input from outside.
 */
export function fromHex(hex: string): Uint8Array {
  const bytes = new Uint8Array(hex.length / 2);
  for (let at = 0; at < bytes.length; at++) bytes[at] = parseInt(hex.slice(2 * at, 2 * at + 2), 16);
  return bytes;
}

const hexOf = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));
