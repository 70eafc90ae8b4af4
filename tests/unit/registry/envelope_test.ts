import { deepEqual, equal, ok } from "node:assert/strict";
import fc from "fast-check";
import { sha256 } from "@noble/hashes/sha2.js";
import { encodeCbor } from "../../../lib/base/cbor.ts";
import { toHex } from "../../../lib/registry/bytes.ts";
import {
  decodeEnvelope,
  encodeEnvelope,
  type Envelope,
  type EnvelopeFields,
} from "../../../lib/registry/envelope.ts";
import {
  type EnvelopePorts,
  refusalOfForgery,
  refusalOfStranger,
} from "../../../lib/registry/envelope_check.ts";
import { envelopeNamed, identityNamed, openPorts } from "../../support/registry_keys.ts";

const document = Uint8Array.from({ length: 800 }, (_, at) => at & 255);

function decoded(bytes: Uint8Array): Envelope {
  const envelope = decodeEnvelope(bytes);
  ok(typeof envelope !== "string", String(envelope));
  return envelope;
}

Deno.test("decodeEnvelope: gives back what was encoded, for any fields within bounds", () => {
  const count = fc.maxSafeNat();
  const fields = fc.record({
    epoch: count,
    seq: count,
    leaseS: fc.nat(86_400),
    run: fc.uint8Array({ minLength: 16, maxLength: 16 })
      .map((bytes) => [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("")),
    admit: fc.uint8Array({ maxLength: 32 }),
    network: fc.string({ maxLength: 64 }),
    document: fc.uint8Array({ maxLength: 2_000 }),
  });
  fc.assert(
    fc.property(fields, (chosen) => {
      const envelope = envelopeNamed("owner", chosen);
      deepEqual(decoded(encodeEnvelope(envelope)), envelope);
      equal(refusalOfForgery(decoded(encodeEnvelope(envelope)), openPorts), undefined);
    }),
    { numRuns: 50 },
  );
});

Deno.test("encodeEnvelope: a renewal has no document and takes about 250 bytes", () => {
  const renewal = encodeEnvelope({ ...envelopeNamed("owner", { document }), document: null });
  ok(renewal.byteLength < 300, `${renewal.byteLength}`);
  equal(refusalOfForgery(decoded(renewal), openPorts), undefined);
});

Deno.test("decodeEnvelope: the sender may shorten a lease, never lengthen it", () => {
  const envelope = envelopeNamed("owner", { document, leaseS: 100 });
  equal(decoded(encodeEnvelope({ ...envelope, remainingS: 7 })).remainingS, 7);
  equal(decoded(encodeEnvelope({ ...envelope, remainingS: 1_000 })).remainingS, 100);
});

Deno.test("decodeEnvelope: names what is out of bounds", () => {
  const parts = (changes: Partial<EnvelopeFields>) =>
    decodeEnvelope(encodeEnvelope(envelopeNamed("owner", { document, ...changes })));
  equal(parts({ epoch: 2 ** 53 }), "malformed");
  equal(parts({ seq: -1 }), "malformed");
  equal(parts({ seq: 0.5 }), "malformed");
  equal(parts({ leaseS: 86_401 }), "malformed");
  equal(parts({ run: "00" }), "malformed");
  equal(parts({ network: "n".repeat(65) }), "malformed");
  equal(parts({ admit: new Uint8Array(33) }), "malformed");
  equal(parts({ owner: "12D3KooWnobody" as EnvelopeFields["owner"] }), "malformed");
  const large = envelopeNamed("owner", { document: new Uint8Array(16_385) });
  equal(decodeEnvelope(encodeEnvelope(large)), "too_large");
  equal(decodeEnvelope(new Uint8Array(20_481)), "too_large");
  equal(decodeEnvelope(new Uint8Array(0)), "malformed");
  equal(decodeEnvelope(encodeCbor([1, 2, 3, 4])), "malformed");
});

Deno.test("refusalOfStranger: names the first rule that the envelope breaks", () => {
  const envelope = envelopeNamed("owner", { document });
  const not = (changes: Partial<EnvelopePorts>) => ({ ...openPorts, ...changes });
  equal(refusalOfStranger(envelope, "test", openPorts), undefined);
  equal(refusalOfStranger(envelope, "other", openPorts), "wrong_network");
  equal(refusalOfStranger(envelope, "test", not({ isDenied: () => true })), "denied");
  equal(refusalOfStranger(envelope, "test", not({ isAdmitted: () => false })), "not_admitted");
});

Deno.test("refusalOfForgery: finds another key, another document and another signature", () => {
  const envelope = envelopeNamed("owner", { document });
  const other = identityNamed("other");
  equal(
    refusalOfForgery(envelopeNamed("owner", { document, owner: other.peerId }), openPorts),
    "wrong_key",
  );
  equal(
    refusalOfForgery(
      envelopeNamed("owner", { document, publicKey: Uint8Array.of(1, 2, 3) }),
      openPorts,
    ),
    "wrong_key",
  );
  equal(refusalOfForgery({ ...envelope, document: Uint8Array.of(1) }, openPorts), "wrong_document");
  const forged = envelopeNamed("other", {
    document,
    owner: envelope.owner,
    publicKey: envelope.publicKey,
  });
  equal(refusalOfForgery(forged, openPorts), "bad_signature");
});

Deno.test("an envelope changed in any one bit is refused, or differs only in what remains", () => {
  const envelope = envelopeNamed("owner", { document: document.subarray(0, 40) });
  const bytes = encodeEnvelope(envelope);
  for (let bit = 0; bit < bytes.byteLength * 8; bit++) {
    const changed = bytes.slice();
    changed[bit >> 3] ^= 1 << (bit & 7);
    const read = decodeEnvelope(changed);
    if (typeof read === "string" || refusalOfForgery(read, openPorts)) continue;
    deepEqual({ ...read, remainingS: 0 }, { ...envelope, remainingS: 0 }, `bit ${bit}`);
  }
});

Deno.test("decodeEnvelope: takes any bytes without failing", () => {
  const valid = encodeEnvelope(envelopeNamed("owner", { document }));
  const mutated = fc.tuple(fc.nat(valid.byteLength - 1), fc.uint8Array({ maxLength: 64 }))
    .map(([at, patch]) => {
      const bytes = valid.slice();
      bytes.set(patch.subarray(0, bytes.byteLength - at), at);
      return bytes;
    });
  const cut = fc.nat(valid.byteLength).map((length) => valid.slice(0, length));
  const nested = fc.nat(20_000).map((depth) => new Uint8Array(depth).fill(0x81));
  const any = fc.oneof(fc.uint8Array({ maxLength: 25_000 }), mutated, cut, nested);
  fc.assert(fc.property(any, (bytes) => void decodeEnvelope(bytes)), { numRuns: 1_000 });
});

Deno.test("encodeEnvelope: makes the bytes of version 1, which fleets of mixed versions share", () => {
  const fields = { epoch: 3, seq: 5, run: "0f".repeat(16), leaseS: 10_800 };
  const envelope = envelopeNamed("golden owner", { ...fields, document: Uint8Array.of(1, 2, 3) });
  const bytes = encodeEnvelope(envelope);
  equal(
    toHex(envelope.signedPart),
    "8964746573747834313244334b6f6f57524b6b6270624a3448626b44536b4464504635314c39463958365731644331386d444c66625367646f456b43582408011220e66682ff614908a620dcb18449a66740ce6fbe4d2c4a60973674e9a5a6f13ead0305500f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f192a305820039058c6f2c0cb492c533b0a4d14ef77cc0f78abccced5287d84a1a2011cfb8140",
  );
  equal(toHex(sha256(bytes)), "6358c60df1a90c5e1e6f450790960574447c290c91eece1af47f1cb9f7da6144");
});
