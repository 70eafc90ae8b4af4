// How are key hashes written for people?

const alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/**
 * Base58 in Bitcoin's alphabet. Quadratic in the length: for hashes and short keys only.
 * @returns One `1` for each leading zero byte, then the number; empty for no bytes.
 */
export function encodeBase58(bytes: Uint8Array): string {
  const digits: number[] = [];
  for (const byte of bytes) {
    let carry = byte;
    for (let index = 0; index < digits.length; index++) {
      carry += digits[index] * 256;
      digits[index] = carry % 58;
      carry = Math.floor(carry / 58);
    }
    for (; carry > 0; carry = Math.floor(carry / 58)) digits.push(carry % 58);
  }
  const firstNonZero = bytes.findIndex((byte) => byte !== 0);
  const zeroCount = firstNonZero < 0 ? bytes.length : firstNonZero;
  return "1".repeat(zeroCount) + digits.reverse().map((digit) => alphabet[digit]).join("");
}
