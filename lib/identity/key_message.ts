// How does libp2p write a key into bytes?
import type { Brand } from "../base/brand.ts";

/** The kinds of key that peers of this mesh may have. */
export type KeyType = "rsa" | "ed25519";

/** A libp2p `PublicKey` message whose form was checked. */
export type PublicKeyBytes = Brand<Uint8Array<ArrayBuffer>, "PublicKeyBytes">;

/** The content of a libp2p `PublicKey` or `PrivateKey` message. */
export type KeyMessage = { readonly type: KeyType; readonly data: Uint8Array<ArrayBuffer> };

/** Numbers of libp2p's `KeyType`. */
const typeNumbers: Record<KeyType, number> = { rsa: 0, ed25519: 1 };
const typeField = 0x08; // Field 1, a varint.
const dataField = 0x12; // Field 2, length-delimited.

/** An RSA-8192 key in PKCS#1 has 4.7 KB; libp2p allows no more. */
export const keyMessageBytesMax = 8_192;

/** Protobuf with both fields in order: the one form of which a PeerId is a hash. */
export function encodeKeyMessage({ type, data }: KeyMessage): Uint8Array<ArrayBuffer> {
  const length = encodeVarint(data.byteLength);
  return new Uint8Array([typeField, typeNumbers[type], dataField, ...length, ...data]);
}

/**
 * Reads a key message from outside, in its one form: type, then data, then nothing.
 * @param bytes Untrusted; at most {@link keyMessageBytesMax}.
 * @returns `undefined` when the bytes are anything else.
 */
export function decodeKeyMessage(bytes: Uint8Array): KeyMessage | undefined {
  if (bytes.byteLength > keyMessageBytesMax || bytes.byteLength < 4) return undefined;
  if (bytes[0] !== typeField || bytes[2] !== dataField) return undefined;
  const type = (["rsa", "ed25519"] as const).find((name) => typeNumbers[name] === bytes[1]);
  const length = decodeVarint(bytes, 3);
  if (type === undefined || length === undefined) return undefined;
  if (length.next + length.value !== bytes.byteLength) return undefined;
  return { type, data: bytes.slice(length.next) };
}

function encodeVarint(value: number): number[] {
  return value < 128 ? [value] : [value % 128 + 128, ...encodeVarint(Math.floor(value / 128))];
}

/** At most two bytes, which is enough for the largest key; a longer form than needed is refused. */
function decodeVarint(bytes: Uint8Array, at: number): { value: number; next: number } | undefined {
  const [low, high] = [bytes[at], bytes[at + 1]];
  if (low < 128) return { value: low, next: at + 1 };
  if (high === undefined || high === 0 || high >= 128) return undefined;
  return { value: low - 128 + high * 128, next: at + 2 };
}
