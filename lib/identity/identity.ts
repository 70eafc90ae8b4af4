// Who is this node, and how does it prove it?
import { createPrivateKey, createPublicKey, generateKeyPairSync, sign } from "node:crypto";
import type { KeyObject } from "node:crypto";
import { Buffer } from "node:buffer";
import { OtelaError } from "../base/errors.ts";
import type { PeerId } from "../base/peer_id.ts";
import { decodeKeyMessage, encodeKeyMessage, type KeyType } from "./key_message.ts";
import { assertRsaBits, peerIdOfPublicKey } from "./public_key.ts";

/** A key pair and what follows from it. Keep it in this process: no field but `peerId` belongs into a log. */
export type Identity = {
  readonly peerId: PeerId;
  readonly keyType: KeyType;
  /** libp2p `PrivateKey` message: what the key file holds. */
  readonly privateKeyProtobuf: Uint8Array<ArrayBuffer>;
  /** libp2p `PublicKey` message: what peers verify with. */
  readonly publicKeyProtobuf: Uint8Array<ArrayBuffer>;
  /** Ed25519 (64 bytes, the same for the same message) or RSA with SHA-256. Synchronous, 0.03 ms. */
  sign(message: Uint8Array): Uint8Array<ArrayBuffer>;
};

/** DER before the 32 bytes of an Ed25519 seed (RFC 8410 §7). */
const ed25519Prefix = Uint8Array.from([48, 46, 2, 1, 0, 48, 5, 6, 3, 43, 101, 112, 4, 34, 4, 32]);
const seedBytes = 32;

/** A new Ed25519 identity from the operating system's randomness. */
export function createIdentity(): Identity {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const seed = privateKey.export({ format: "der", type: "pkcs8" }).subarray(-seedBytes);
  const point = publicKey.export({ format: "der", type: "spki" }).subarray(-seedBytes);
  const data = new Uint8Array([...seed, ...point]);
  return decodeIdentity(encodeKeyMessage({ type: "ed25519", data }));
}

/**
 * An identity from a libp2p `PrivateKey` message: ours, or an RSA one of the original.
 * @param privateKeyProtobuf Untrusted; copied.
 * @throws {OtelaError} `identity_damaged`, with the reason and without a byte of the key.
 */
export function decodeIdentity(privateKeyProtobuf: Uint8Array): Identity {
  const message = decodeKeyMessage(privateKeyProtobuf);
  if (message === undefined) {
    throw damaged(
      `it must be a libp2p key message: its ${privateKeyProtobuf.byteLength} bytes are not`,
    );
  }
  const { type, data } = message;
  const key = type === "ed25519" ? readEd25519(data) : readRsa(data);
  const spki = createPublicKey(key).export({ format: "der", type: "spki" });
  // An Ed25519 public key goes bare, an RSA one in its envelope (libp2p's PeerId specification).
  const publicData = new Uint8Array(type === "ed25519" ? spki.subarray(-seedBytes) : spki);
  const publicKeyProtobuf = encodeKeyMessage({ type, data: publicData });
  const hash = type === "ed25519" ? null : "sha256";
  return Object.freeze({
    peerId: peerIdOfPublicKey(publicKeyProtobuf),
    keyType: type,
    privateKeyProtobuf: privateKeyProtobuf.slice() as Uint8Array<ArrayBuffer>,
    publicKeyProtobuf,
    sign: (message: Uint8Array) => new Uint8Array(sign(hash, message, key)),
  });
}

/** The seed, then the public key, which must belong to it; once more in files of very old versions. */
function readEd25519(data: Uint8Array): KeyObject {
  const isOld = data.byteLength === 3 * seedBytes;
  if (data.byteLength !== 2 * seedBytes && !isOld) {
    throw damaged(`an Ed25519 key must have 64 bytes: it has ${data.byteLength}`);
  }
  const der = Buffer.concat([ed25519Prefix, data.subarray(0, seedBytes)]);
  const key = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  const point = createPublicKey(key).export({ format: "der", type: "spki" }).subarray(-seedBytes);
  for (let at = seedBytes; at < data.byteLength; at += seedBytes) {
    if (!point.equals(data.subarray(at, at + seedBytes))) {
      throw damaged("its public half must belong to its secret half: it does not");
    }
  }
  return key;
}

function readRsa(data: Uint8Array): KeyObject {
  try {
    const key = createPrivateKey({ key: Buffer.from(data), format: "der", type: "pkcs1" });
    assertRsaBits(key);
    return key;
  } catch (cause) {
    // OpenSSL's own words say nothing about the key's content, nor anything that helps.
    throw damaged("an RSA key must be PKCS#1 of 2048 to 8192 bits: it is not", cause);
  }
}

function damaged(reason: string, cause?: unknown): OtelaError {
  return new OtelaError("identity_damaged", `Cannot read the key as ${reason}`, { cause });
}
