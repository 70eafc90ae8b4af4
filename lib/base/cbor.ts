// How do structured values travel?
import { decode, encode } from "cborg";
import type { Bytes } from "./units.ts";
import { messageOf, OtelaError } from "./errors.ts";

/** Deterministic CBOR (RFC 8949 §4.2 map order by cborg's default): equal values give equal bytes. */
export function encodeCbor(value: unknown): Uint8Array {
  return encode(value);
}

/**
 * CBOR from outside.
 * @param bytes Untrusted.
 * @param bytesMax Larger input is refused unread.
 * @returns A plain value; maps with text keys become objects without a prototype problem (own keys only).
 * @throws {OtelaError} `bad_request` when the bytes are too many or no well-formed CBOR.
 */
export function decodeCbor(bytes: Uint8Array, bytesMax: Bytes): unknown {
  if (bytes.byteLength > bytesMax) {
    throw new OtelaError(
      "bad_request",
      `Cannot read CBOR as it must have at most ${bytesMax} bytes: got ${bytes.byteLength}`,
    );
  }
  try {
    return decode(bytes, { allowIndefinite: false, rejectDuplicateMapKeys: true });
  } catch (error) {
    throw new OtelaError("bad_request", `Cannot read CBOR: ${messageOf(error)}`);
  }
}
