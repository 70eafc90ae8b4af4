// Which keys do owners in registry tests have?
import { ed25519 } from "@noble/curves/ed25519.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { decodeIdentity, type Identity } from "../../lib/identity/identity.ts";
import { encodeKeyMessage } from "../../lib/identity/key_message.ts";
import { peerIdOfPublicKey, verifySignature } from "../../lib/identity/public_key.ts";
import { type Envelope, type EnvelopeFields, signEnvelope } from "../../lib/registry/envelope.ts";
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

/** A signed envelope of the owner of this name; fields that a test does not name are plausible. */
export function envelopeNamed(
  name: string,
  { document, ...fields }: Partial<EnvelopeFields> & { document: Uint8Array },
): Envelope {
  const { peerId, publicKeyProtobuf, sign } = identityNamed(name);
  return signEnvelope(
    {
      network: "test",
      owner: peerId,
      publicKey: publicKeyProtobuf,
      epoch: 1,
      seq: 1,
      run: "00".repeat(16),
      leaseS: 10_800,
      admit: new Uint8Array(0),
      ...fields,
    },
    document,
    sign,
  );
}
