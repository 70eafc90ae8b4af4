// Do our keys mean the same to libp2p?
import { deepEqual, equal, ok } from "node:assert/strict";
import {
  generateKeyPair,
  privateKeyFromProtobuf,
  privateKeyToProtobuf,
  publicKeyFromProtobuf,
  publicKeyToProtobuf,
} from "@libp2p/crypto/keys";
import { peerIdFromPrivateKey } from "@libp2p/peer-id";
import { createIdentity, decodeIdentity } from "../../lib/identity/identity.ts";
import { verifySignature } from "../../lib/identity/public_key.ts";

const message = new TextEncoder().encode("what was signed");

Deno.test("createIdentity makes a key that libp2p reads, under the same PeerId, and verifies", async () => {
  for (let round = 0; round < 20; round++) {
    const identity = createIdentity();
    const key = privateKeyFromProtobuf(identity.privateKeyProtobuf);
    equal(peerIdFromPrivateKey(key).toString(), identity.peerId);
    deepEqual(publicKeyToProtobuf(key.publicKey), identity.publicKeyProtobuf);
    const publicKey = publicKeyFromProtobuf(identity.publicKeyProtobuf);
    ok(await publicKey.verify(message, identity.sign(message)));
    ok(verifySignature(identity.publicKeyProtobuf, message, await key.sign(message)));
  }
});

Deno.test("decodeIdentity reads an RSA key of libp2p, under the same PeerId, and both verify", async () => {
  const key = await generateKeyPair("RSA", 2_048);
  const identity = decodeIdentity(new Uint8Array(privateKeyToProtobuf(key)));
  equal(identity.peerId, peerIdFromPrivateKey(key).toString());
  deepEqual([...identity.publicKeyProtobuf], [...publicKeyToProtobuf(key.publicKey)]);
  ok(await key.publicKey.verify(message, identity.sign(message)));
  ok(verifySignature(identity.publicKeyProtobuf, message, await key.sign(message)));
});
