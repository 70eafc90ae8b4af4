// What may one peer say of another, and who must have signed it?
import { decodeCbor, encodeCbor } from "../base/cbor.ts";
import { OtelaError } from "../base/errors.ts";
import { isPeerId, type PeerId } from "../base/peer_id.ts";
import { type Bytes, KiB } from "../base/units.ts";
import { counterLast, type Incarnation } from "./incarnation.ts";

/** `failed` is an accusation by a watcher; the others a peer says of itself. The order is the wire's. */
export const rumourKinds = ["alive", "failed", "goodbye", "drained"] as const;

export type RumourKind = (typeof rumourKinds)[number];

/** A signed statement that travels from node to node. */
export type Rumour = {
  readonly kind: RumourKind;
  readonly subject: PeerId;
  /** `failed`: the latest that the accuser knew. Else the subject's own. */
  readonly incarnation: Incarnation;
  /** The subject itself unless `failed`. */
  readonly signer: PeerId;
  readonly signature: Uint8Array;
};

/** Signs with this node's key (port). Synchronous, so that traces repeat. */
export type SignRumour = (message: Uint8Array) => Uint8Array;
/** Whether the signature is that of the signer, whose key is known or inside its PeerId (port). */
export type VerifyRumour = (signer: PeerId, message: Uint8Array, signature: Uint8Array) => boolean;

/** An Ed25519 rumour has about 190 bytes, one with an RSA key of 8,192 bits 1,150. */
export const rumourBytesMax: Bytes = 2 * KiB;
const signatureBytesMax: Bytes = KiB;
const domain = new TextEncoder().encode("otela-rumour-v1\0");

/** What is signed. @param network Its name: a rumour means nothing in another one. */
export function signedBytes(
  network: string,
  { kind, subject, incarnation, signer }: Omit<Rumour, "signature">,
): Uint8Array {
  const { epoch, counter } = incarnation;
  const fields = encodeCbor([network, rumourKinds.indexOf(kind), subject, epoch, counter, signer]);
  const message = new Uint8Array(domain.byteLength + fields.byteLength);
  message.set(domain);
  message.set(fields, domain.byteLength);
  return message;
}

/** As a list for a message: [kind, subject, epoch, counter, signer or null, signature]. */
export function packRumour(rumour: Rumour): unknown[] {
  const { kind, subject, incarnation: { epoch, counter }, signer, signature } = rumour;
  const by = signer === subject ? null : signer;
  return [rumourKinds.indexOf(kind), subject, epoch, counter, by, signature];
}

/** @param value Untrusted. @throws {OtelaError} `bad_request` when it is no rumour. */
export function unpackRumour(value: unknown): Rumour {
  if (!Array.isArray(value) || value.length < 6) throw malformed("six fields");
  const [kindAt, subject, epoch, counter, by, signature] = value;
  const kind = rumourKinds[kindAt];
  if (kind === undefined) throw malformed("a known kind");
  if (typeof subject !== "string" || !isPeerId(subject)) throw malformed("a PeerId as subject");
  const incarnation = unpackIncarnation(epoch, counter);
  const isFinal = kind === "goodbye" || kind === "drained";
  if ((counter === counterLast) !== isFinal) throw malformed("a counter that fits its kind");
  if (by !== null && (typeof by !== "string" || !isPeerId(by))) {
    throw malformed("a PeerId as signer");
  }
  const signer = by ?? subject;
  if ((signer === subject) !== (kind !== "failed")) throw malformed("a signer that may say so");
  if (!(signature instanceof Uint8Array) || signature.byteLength > signatureBytesMax) {
    throw malformed("a signature");
  }
  return { kind, subject, incarnation, signer, signature };
}

/** @throws {OtelaError} `bad_request` when the two are no incarnation. */
export function unpackIncarnation(epoch: unknown, counter: unknown): Incarnation {
  const isEpoch = Number.isSafeInteger(epoch) && Number(epoch) >= 0;
  const isCounter = Number.isSafeInteger(counter) && Number(counter) >= 0;
  if (isEpoch && isCounter && Number(counter) <= counterLast) {
    return { epoch: Number(epoch), counter: Number(counter) };
  }
  throw malformed("an epoch of 53 and a counter of 32 bit");
}

/**
 * As a gossip message. A number leads, where an envelope has bytes: both travel under one topic.
 */
export function encodeRumour(rumour: Rumour): Uint8Array {
  return encodeCbor([1, packRumour(rumour)]);
}

/**
 * @param bytes Untrusted.
 * @returns `undefined` for what is no rumour of this version, such as an envelope.
 * @throws {OtelaError} `bad_request` when it is one and has another form.
 */
export function decodeRumour(bytes: Uint8Array): Rumour | undefined {
  // A list of two whose first is the number 1: cheap to tell from an envelope, a list of four.
  if (bytes[0] !== 0x82 || bytes[1] !== 0x01) return undefined;
  const parts = decodeCbor(bytes, rumourBytesMax);
  if (!Array.isArray(parts)) throw malformed("a list");
  return unpackRumour(parts[1]);
}

function malformed(rule: string): OtelaError {
  return new OtelaError("bad_request", `Cannot read a rumour as it must have ${rule}`);
}
