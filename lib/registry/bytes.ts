// How do we compare and print bytes?

/** Lower-case hexadecimal: the form in which hashes and runs are compared and used as map keys. */
export function toHex(bytes: Uint8Array): string {
  // One flat string: put together byte by byte it would be kept as its pieces, 800 bytes for a hash.
  return bytes.toHex();
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
