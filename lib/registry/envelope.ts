// In which form does a claim travel?
//
// Wire:   CBOR [signedPart, signature, remainingLeaseS, document | null]
// Signed: "otela-claim-v1\0" ‖ signedPart
// signedPart: CBOR [network, owner, publicKey, epoch, seq, run, leaseS, sha256(document), admit]
//
// `signedPart` travels as one byte string, so a receiver verifies exactly what was signed and need not
// encode anything anew. A renewal has the same hash, the next seq and no document. `remainingLeaseS` is
// what the sender believes, unsigned; it can only shorten a lease. leaseS = 0 withdraws the claim.
import { sha256 } from "@noble/hashes/sha2.js";
import { decodeCbor, encodeCbor } from "../base/cbor.ts";
import { isPeerId, type PeerId } from "../base/peer_id.ts";
import { type Bytes, KiB } from "../base/units.ts";
import { concatBytes } from "../base/concat_bytes.ts";
import { fromHex, toHex } from "./bytes.ts";
import type { EnvelopeHead } from "./order.ts";
import type { RefusalReason } from "./refusal.ts";

/** Bounds of an envelope (protocol §2); a save of 16 KiB holds 256 identity groups with room to spare. */
export const documentBytesMax: Bytes = 16 * KiB;
export const envelopeBytesMax: Bytes = 20 * KiB;
/** Longest lease a receiver accepts: as long as a floor is remembered, so that no ghost outlives its floor. */
export const leaseSMax = 24 * 3_600;

const domain = new TextEncoder().encode("otela-claim-v1\0");
const networkLengthMax = 64;
/** RSA of 4,096 bits is 550 bytes as protobuf; its signature 512. */
const publicKeyBytesMax: Bytes = 1_024;
const signatureBytesMax: Bytes = 1_024;
const runBytes: Bytes = 16;
const hashBytes: Bytes = 32;

/** What the owner signs. */
export type EnvelopeFields = {
  readonly network: string;
  readonly owner: PeerId;
  /** libp2p protobuf form. */
  readonly publicKey: Uint8Array;
  readonly epoch: number;
  readonly seq: number;
  /** 16 random bytes of the owner's process, hexadecimal. */
  readonly run: string;
  /** Whole seconds; 0 withdraws. */
  readonly leaseS: number;
  /** Proof of the network's secret; empty in an open mesh. */
  readonly admit: Uint8Array;
};

/** One envelope, its parts checked for form and bounds but not yet for truth. */
export type Envelope = EnvelopeHead & EnvelopeFields & {
  readonly signedPart: Uint8Array;
  readonly signature: Uint8Array;
  /** Whole seconds, never above `leaseS`. */
  readonly remainingS: number;
  /** The saved Automerge document; `null` in a renewal. */
  readonly document: Uint8Array | null;
};

/** Signs bytes with this node's key; synchronous, so that equal inputs give equal traces. */
export type Sign = (message: Uint8Array) => Uint8Array;

/** The exact bytes that an owner signs. */
export function messageToSign(signedPart: Uint8Array): Uint8Array {
  return concatBytes([domain, signedPart]);
}

/** Makes and signs an envelope of our own that carries `document`. */
export function signEnvelope(fields: EnvelopeFields, document: Uint8Array, sign: Sign): Envelope {
  const hash = sha256(document);
  const signedPart = encodeCbor([
    fields.network,
    fields.owner,
    fields.publicKey,
    fields.epoch,
    fields.seq,
    fromHex(fields.run),
    fields.leaseS,
    hash,
    fields.admit,
  ]);
  const signature = sign(messageToSign(signedPart));
  const remainingS = fields.leaseS;
  return { ...fields, hash: toHex(hash), signedPart, signature, remainingS, document };
}

/** The bytes that travel; leave `document` out (`null`) for a renewal. */
export function encodeEnvelope(
  envelope: Pick<Envelope, "signedPart" | "signature" | "remainingS" | "document">,
): Uint8Array {
  const { signedPart, signature, remainingS, document } = envelope;
  return encodeCbor([signedPart, signature, remainingS, document]);
}

/**
 * Reads an envelope and checks its form; the document is hashed later, when the rest holds.
 * @param bytes Untrusted.
 * @returns The envelope, which shares no memory with `bytes`, or why it is none.
 */
export function decodeEnvelope(bytes: Uint8Array): Envelope | RefusalReason {
  if (bytes.byteLength > envelopeBytesMax) return "too_large";
  const wire = decodeList(bytes, 4);
  if (wire === undefined) return "malformed";
  const [signedPart, signature, remainingS, document] = wire;
  if (!isBytes(signedPart, envelopeBytesMax) || !isBytes(signature, signatureBytesMax)) {
    return "malformed";
  }
  if (!isCount(remainingS)) return "malformed";
  if (document !== null && !(document instanceof Uint8Array)) return "malformed";
  if (document !== null && document.byteLength > documentBytesMax) return "too_large";
  const head = decodeSignedPart(signedPart);
  if (head === undefined) return "malformed";
  const shortened = Math.min(remainingS, head.leaseS);
  return { ...head, signedPart, signature, remainingS: shortened, document };
}

/** The key inside a signed part of an envelope that was checked; `undefined` when it is none. */
export function publicKeyIn(signedPart: Uint8Array): Uint8Array | undefined {
  return decodeSignedPart(signedPart)?.publicKey;
}

function decodeSignedPart(bytes: Uint8Array): (EnvelopeFields & EnvelopeHead) | undefined {
  const fields = decodeList(bytes, 9);
  if (fields === undefined) return undefined;
  const [network, owner, publicKey, epoch, seq, run, leaseS, hash, admit] = fields;
  if (typeof network !== "string" || network.length > networkLengthMax) return undefined;
  if (typeof owner !== "string" || !isPeerId(owner)) return undefined;
  if (!isBytes(publicKey, publicKeyBytesMax) || !isBytes(admit, hashBytes)) return undefined;
  if (!isCount(epoch) || !isCount(seq) || !isCount(leaseS) || leaseS > leaseSMax) return undefined;
  if (!isBytes(run, runBytes) || run.byteLength !== runBytes) return undefined;
  if (!isBytes(hash, hashBytes) || hash.byteLength !== hashBytes) return undefined;
  return {
    network,
    owner,
    publicKey,
    epoch,
    seq,
    run: toHex(run),
    leaseS,
    hash: toHex(hash),
    admit,
  };
}

function decodeList(bytes: Uint8Array, length: number): unknown[] | undefined {
  try {
    const value = decodeCbor(bytes, envelopeBytesMax);
    return Array.isArray(value) && value.length === length ? value : undefined;
  } catch {
    return undefined; // Any failure of the decoder means the same to us.
  }
}

function isBytes(value: unknown, bytesMax: Bytes): value is Uint8Array {
  return value instanceof Uint8Array && value.byteLength <= bytesMax;
}

/** Unsigned and at most 53 bit: what a JavaScript number counts without loss. */
function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}
