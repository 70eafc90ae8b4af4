import { deepEqual, equal, match, notEqual, ok, throws } from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import fc from "fast-check";
import { OtelaError } from "../../../lib/base/errors.ts";
import { isPeerId } from "../../../lib/base/peer_id.ts";
import { createIdentity, decodeIdentity } from "../../../lib/identity/identity.ts";
import { encodeKeyMessage } from "../../../lib/identity/key_message.ts";
import { peerIdOfPublicKey, verifySignature } from "../../../lib/identity/public_key.ts";

const message = new TextEncoder().encode("what was signed");

/** A key file as the original writes it: PKCS#1 in libp2p's message. */
function rsaKey(bits: number): Uint8Array<ArrayBuffer> {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: bits });
  const data = new Uint8Array(privateKey.export({ format: "der", type: "pkcs1" }));
  return encodeKeyMessage({ type: "rsa", data });
}

Deno.test("createIdentity makes Ed25519 keys that differ, with a PeerId of the right form", () => {
  const [a, b] = [createIdentity(), createIdentity()];
  equal(a.keyType, "ed25519");
  ok(isPeerId(a.peerId) && a.peerId.startsWith("12D3KooW"));
  notEqual(a.peerId, b.peerId);
  equal(a.privateKeyProtobuf.byteLength, 68);
});

Deno.test("decodeIdentity gives the identity back, and a key's signature is always the same", () => {
  const identity = createIdentity();
  const again = decodeIdentity(identity.privateKeyProtobuf);
  equal(again.peerId, identity.peerId);
  deepEqual(again.sign(message), identity.sign(message));
  equal(peerIdOfPublicKey(identity.publicKeyProtobuf), identity.peerId);
});

Deno.test("decodeIdentity loads an RSA key of the original", () => {
  const identity = decodeIdentity(rsaKey(2_048));
  equal(identity.keyType, "rsa");
  ok(isPeerId(identity.peerId) && identity.peerId.startsWith("Qm"));
  ok(verifySignature(identity.publicKeyProtobuf, message, identity.sign(message)));
});

Deno.test("verifySignature refuses another message, another key, and a changed signature", () => {
  for (const identity of [createIdentity(), decodeIdentity(rsaKey(2_048))]) {
    const signature = identity.sign(message);
    ok(verifySignature(identity.publicKeyProtobuf, message, signature));
    ok(!verifySignature(identity.publicKeyProtobuf, message.subarray(1), signature));
    ok(!verifySignature(createIdentity().publicKeyProtobuf, message, signature));
    const changed = signature.slice();
    changed[5] ^= 1;
    ok(!verifySignature(identity.publicKeyProtobuf, message, changed));
    ok(!verifySignature(identity.publicKeyProtobuf, message, signature.subarray(1)));
  }
});

Deno.test("verifySignature answers false to anything malformed", () => {
  const { publicKeyProtobuf } = createIdentity();
  const bytes = fc.uint8Array({ maxLength: 100 });
  fc.assert(
    fc.property(bytes, bytes, fc.boolean(), (key, signature, isRsa) => {
      const framed = encodeKeyMessage({
        type: isRsa ? "rsa" : "ed25519",
        data: new Uint8Array(key),
      });
      equal(verifySignature(framed, message, signature), false);
      equal(verifySignature(key, message, signature), false);
      equal(verifySignature(publicKeyProtobuf, message, signature), false);
    }),
    { numRuns: 300, seed: 7 },
  );
});

Deno.test("decodeIdentity refuses keys that are cut, doubled, swapped or too weak, with the reason", () => {
  const { privateKeyProtobuf: right } = createIdentity();
  const other = createIdentity().privateKeyProtobuf;
  const swapped = new Uint8Array([...right.subarray(0, 36), ...other.subarray(36)]);
  const rows: [Uint8Array, RegExp][] = [
    [new Uint8Array(0), /must be a libp2p key message: its 0 bytes are not/],
    [right.subarray(0, 40), /must be a libp2p key message/],
    [new Uint8Array([...right, ...right]), /must be a libp2p key message/],
    [swapped, /public half must belong to its secret half/],
    [
      encodeKeyMessage({ type: "ed25519", data: new Uint8Array(32) }),
      /must have 64 bytes: it has 32/,
    ],
    [encodeKeyMessage({ type: "rsa", data: new Uint8Array(300) }), /must be PKCS#1/],
    [rsaKey(1_024), /must be PKCS#1 of 2048 to 8192 bits/],
  ];
  for (const [bytes, reason] of rows) {
    throws(() => decodeIdentity(bytes), (error: unknown) => {
      match(String(error), reason);
      return error instanceof OtelaError && error.code === "identity_damaged";
    });
  }
});

Deno.test("decodeIdentity reads the old form that repeats the public key", () => {
  const { privateKeyProtobuf, peerId } = createIdentity();
  const data = new Uint8Array([
    ...privateKeyProtobuf.subarray(4),
    ...privateKeyProtobuf.subarray(36),
  ]);
  equal(decodeIdentity(encodeKeyMessage({ type: "ed25519", data })).peerId, peerId);
});

Deno.test("decodeIdentity survives any bytes without naming one of them", () => {
  const { privateKeyProtobuf: right } = createIdentity();
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    fc.tuple(fc.nat(right.length - 1), fc.nat(255)).map(([at, byte]) => right.with(at, byte)),
  );
  fc.assert(
    fc.property(bytes, (bytes) => {
      try {
        decodeIdentity(bytes);
      } catch (error) {
        ok(error instanceof OtelaError && error.code === "identity_damaged");
        ok(!error.message.includes(bytes.subarray(4, 12).toString() || "never"));
      }
    }),
    { numRuns: 500, seed: 7 },
  );
});
