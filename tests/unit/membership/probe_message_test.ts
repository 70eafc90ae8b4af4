import { deepEqual, equal, ok, throws } from "node:assert/strict";
import fc from "fast-check";
import { encodeCbor } from "../../../lib/base/cbor.ts";
import { OtelaError } from "../../../lib/base/errors.ts";
import {
  decodeProbeMessage,
  encodeProbeMessage,
  probeMessageBytesMax,
} from "../../../lib/membership/probe_message.ts";
import {
  decodeRumour,
  encodeRumour,
  rumourBytesMax,
  signedBytes,
} from "../../../lib/membership/rumour.ts";
import { peerNumbered } from "../../../lib/sim/peer_names.ts";
import { ackOf, rumourOf } from "../../support/membership_node.ts";
import { anyProbeMessage, anyRumour } from "../../support/probe_messages.ts";

Deno.test("decodeProbeMessage gives back what encodeProbeMessage took", () => {
  fc.assert(fc.property(anyProbeMessage, (message) => {
    deepEqual(decodeProbeMessage(encodeProbeMessage(message)), message);
  }));
});

Deno.test("decodeRumour gives back what encodeRumour took, within its bound", () => {
  fc.assert(fc.property(anyRumour, (rumour) => {
    const bytes = encodeRumour(rumour);
    ok(bytes.byteLength <= rumourBytesMax);
    deepEqual(decodeRumour(bytes), rumour);
  }));
});

Deno.test("encodeProbeMessage needs less than 40 bytes for a plain probe or answer", () => {
  const ack = ackOf(70_000, { epoch: 300, counter: 3 });
  ok(encodeProbeMessage(ack).byteLength < 40);
  ok(encodeProbeMessage({ ...ack, type: "probe" }).byteLength < 40);
});

Deno.test("encodeProbeMessage stays below the bound with the longest list of rumours", () => {
  const rumours = Array.from(
    { length: 64 },
    (_, at) => rumourOf("failed", peerNumbered(at), peerNumbered(at + 100)),
  );
  const list = encodeProbeMessage({ type: "rumours", rumours });
  ok(list.byteLength <= probeMessageBytesMax, `${list.byteLength}`);
});

Deno.test("decodeProbeMessage skips types that it does not know and fields beyond its own", () => {
  equal(decodeProbeMessage(encodeCbor([99, 1, "later"])), undefined);
  const later = encodeCbor([3, 7, peerNumbered(1), "a later field"]);
  deepEqual(decodeProbeMessage(later), { type: "ask", seq: 7, target: peerNumbered(1) });
});

Deno.test("decodeProbeMessage refuses garbage with bad_request and nothing else", () => {
  const mutated = fc.tuple(
    anyProbeMessage,
    fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 6 }),
  )
    .map(([message, changes]) => {
      const bytes = encodeProbeMessage(message);
      for (const [at, value] of changes) bytes[at % bytes.length] = value;
      return bytes;
    });
  fc.assert(
    fc.property(fc.oneof(fc.uint8Array({ maxLength: 200 }), mutated), (bytes) => {
      for (const decode of [decodeProbeMessage, decodeRumour]) {
        try {
          decode(bytes);
        } catch (error) {
          ok(error instanceof OtelaError && error.code === "bad_request", String(error));
        }
      }
    }),
    { numRuns: 2_000 },
  );
});

Deno.test("decodeProbeMessage refuses what is out of its bounds", () => {
  const root = new Uint8Array(8);
  for (
    const parts of [
      [1, -1, 1, 0, root, 0],
      [1, 2 ** 32, 1, 0, root, 0],
      [1, 1, 1.5, 0, root, 0],
      [1, 1, 1, 2 ** 32, root, 0],
      [1, 1, 1, 0, new Uint8Array(9), 0],
      [2, 1, 1, 0, root, 0, Array(65).fill([])],
      [3, 1, "nobody"],
      [6, Array(65).fill(0)],
      [7, [[1, peerNumbered(1), 1, 0, null, new Uint8Array(64)]]], // An accusation by its own subject.
      [7, [[0, peerNumbered(1), 1, 0, peerNumbered(2), new Uint8Array(64)]]], // A life sign by another.
      [7, [[2, peerNumbered(1), 1, 0, null, new Uint8Array(64)]]], // A goodbye that something could outbid.
    ]
  ) throws(() => decodeProbeMessage(encodeCbor(parts)), OtelaError);
  throws(() => decodeProbeMessage(new Uint8Array(probeMessageBytesMax + 1)), OtelaError);
});

Deno.test("decodeRumour takes no envelope for a rumour", () => {
  equal(decodeRumour(encodeCbor([new Uint8Array(9), new Uint8Array(64), 9, null])), undefined);
  equal(decodeRumour(new Uint8Array(0)), undefined);
});

Deno.test("signedBytes differs by network and by every field", () => {
  const rumour = rumourOf("failed", peerNumbered(1), peerNumbered(2));
  const others = [
    signedBytes("other", rumour),
    signedBytes("test", { ...rumour, kind: "alive" }),
    signedBytes("test", { ...rumour, subject: peerNumbered(3) }),
    signedBytes("test", { ...rumour, signer: peerNumbered(3) }),
    signedBytes("test", { ...rumour, incarnation: { epoch: 2, counter: 0 } }),
    signedBytes("test", { ...rumour, incarnation: { epoch: 1, counter: 1 } }),
  ].map((bytes) => bytes.join());
  equal(new Set([signedBytes("test", rumour).join(), ...others]).size, 7);
});
