// Which keys do owners in registry tests have?
import { ed25519 } from "@noble/curves/ed25519.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { decodeIdentity, type Identity } from "../../lib/identity/identity.ts";
import { encodeKeyMessage } from "../../lib/identity/key_message.ts";
import { peerIdOfPublicKey, verifySignature } from "../../lib/identity/public_key.ts";
import type { EnvelopePorts } from "../../lib/registry/envelope_check.ts";

/** The same identity for the same name, so that tests and their traces repeat. */
export function identityNamed(name: string): Identity {
  const seed = sha256(new TextEncoder().encode(name));
  const data = new Uint8Array([...seed, ...ed25519.getPublicKey(seed)]);
  return decodeIdentity(encodeKeyMessage({ type: "ed25519", data }));
}

/** Real keys, everybody admitted, nobody denied. */
export const openPorts: EnvelopePorts = {
  deriveOwner: peerIdOfPublicKey,
  verify: verifySignature,
  isAdmitted: () => true,
  isDenied: () => false,
};
