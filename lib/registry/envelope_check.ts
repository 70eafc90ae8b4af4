// Is an envelope true: from its owner, for this mesh, with the document that was signed?
import { sha256 } from "@noble/hashes/sha2.js";
import type { PeerId } from "../base/peer_id.ts";
import { toHex } from "./bytes.ts";
import { type Envelope, messageToSign } from "./envelope.ts";
import type { RefusalReason } from "./refusal.ts";

/** What the registry must be told about keys and membership of the mesh; all synchronous and pure. */
export type EnvelopePorts = {
  /** The PeerId of a public key in libp2p's protobuf form. @throws When it is no usable key. */
  deriveOwner(publicKey: Uint8Array): PeerId;
  verify(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean;
  /** Whether `admit` proves the network's secret for this owner; always true in an open mesh. */
  isAdmitted(owner: PeerId, admit: Uint8Array): boolean;
  /** Whether `peers.deny` names this owner, or the wallet that its claim names (empty when unknown). */
  isDenied(owner: PeerId, wallet: string): boolean;
};

/**
 * The cheap checks, which need no cryptography but one HMAC: done before anything else.
 * @returns Why the envelope is refused; `undefined` when it is not.
 */
export function refusalOfStranger(
  envelope: Envelope,
  network: string,
  ports: EnvelopePorts,
): RefusalReason | undefined {
  if (envelope.network !== network) return "wrong_network";
  if (ports.isDenied(envelope.owner, "")) return "denied";
  if (!ports.isAdmitted(envelope.owner, envelope.admit)) return "not_admitted";
  return undefined;
}

/**
 * The costly checks: key, document, signature. About 0.05 ms with the node's verifier.
 * @returns Why the envelope is refused; `undefined` when it is not.
 */
export function refusalOfForgery(
  envelope: Envelope,
  ports: EnvelopePorts,
): RefusalReason | undefined {
  const { publicKey, signedPart, signature, document } = envelope;
  if (!isOwner(publicKey, envelope.owner, ports)) return "wrong_key";
  if (document !== null && toHex(sha256(document)) !== envelope.hash) return "wrong_document";
  if (!ports.verify(publicKey, messageToSign(signedPart), signature)) return "bad_signature";
  return undefined;
}

function isOwner(publicKey: Uint8Array, owner: PeerId, ports: EnvelopePorts): boolean {
  try {
    return ports.deriveOwner(publicKey) === owner;
  } catch {
    return false; // Not a key at all.
  }
}
