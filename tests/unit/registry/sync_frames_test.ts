import { deepEqual, equal, ok, throws } from "node:assert/strict";
import fc from "fast-check";
import { sha256 } from "@noble/hashes/sha2.js";
import { encodeCbor } from "../../../lib/base/cbor.ts";
import { OtelaError } from "../../../lib/base/errors.ts";
import { concatBytes } from "../../../lib/base/concat_bytes.ts";
import { toHex } from "../../../lib/registry/bytes.ts";
import { frameSyncMessage, SyncFrameReader } from "../../../lib/registry/sync_frames.ts";
import {
  decodeSyncMessage,
  encodeSyncMessage,
  type SyncMessage,
} from "../../../lib/registry/sync_messages.ts";
import { identityNamed } from "../../support/registry_keys.ts";

const owners = [0, 1, 2].map((at) => identityNamed(`owner ${at}`).peerId);
const root = "0123456789abcdef";
const heads = owners.map((owner) => ({ owner, epoch: 1, seq: 2 ** 53 - 1, hash: "ab".repeat(32) }));
const messages: SyncMessage[] = [
  { type: "root", root },
  { type: "buckets", root, hashes: new Uint8Array(2_048).fill(7) },
  {
    type: "heads",
    root,
    range: { buckets: [0, 7, 255], from: "", to: owners[0] },
    heads,
    isLast: true,
  },
  { type: "offer", heads },
  { type: "want", owners },
  { type: "envelopes", envelopes: [Uint8Array.of(1), new Uint8Array(0)], isLast: false },
  { type: "show", envelope: Uint8Array.of(1, 2) },
];

Deno.test("decodeSyncMessage: gives back every message, however the stream is cut", () => {
  const bytes = messages.flatMap((message) => [...encodeSyncMessage(message)]);
  fc.assert(fc.property(fc.array(fc.integer({ min: 1, max: 900 }), { minLength: 1 }), (cuts) => {
    const reader = new SyncFrameReader();
    const read: SyncMessage[] = [];
    for (let at = 0, cut = 0; at < bytes.length; cut++) {
      const chunk = Uint8Array.from(bytes.slice(at, at + cuts[cut % cuts.length]));
      at += chunk.byteLength;
      for (const message of reader.take(chunk)) read.push(decodeSyncMessage(message)!);
      chunk.fill(0xee); // The chunk belongs to the caller again.
    }
    deepEqual(read, messages);
  }));
});

Deno.test("decodeSyncMessage: skips what later versions may say", () => {
  const [unknown] = new SyncFrameReader().take(frameSyncMessage([99, "future"]));
  equal(decodeSyncMessage(unknown), undefined);
  const [longer] = new SyncFrameReader().take(frameSyncMessage([5, [], "more"]));
  deepEqual(decodeSyncMessage(longer), { type: "want", owners: [] });
});

Deno.test("SyncFrameReader: refuses a message that is announced too long, before it comes", () => {
  throws(() => new SyncFrameReader().take(Uint8Array.of(0, 1, 0, 1)), OtelaError);
  deepEqual(new SyncFrameReader().take(Uint8Array.of(0, 1, 0, 0)), []);
});

Deno.test("decodeSyncMessage: takes any bytes with no failure but its own", () => {
  const shaped = fc.tuple(fc.nat(8), fc.array(fc.anything(), { maxLength: 7 }))
    .map(([type, rest]) => {
      try {
        return encodeCbor([type, ...rest]);
      } catch {
        return new Uint8Array(0); // Not everything has a form in CBOR.
      }
    });
  const any = fc.oneof(fc.uint8Array({ maxLength: 4_000 }), shaped);
  fc.assert(
    fc.property(any, (bytes) => {
      try {
        decodeSyncMessage(bytes);
      } catch (error) {
        ok(error instanceof OtelaError && error.code === "bad_request", String(error));
      }
    }),
    { numRuns: 1_000 },
  );
});

Deno.test("encodeSyncMessage: makes the bytes of version 1, which fleets of mixed versions share", () => {
  const bytes = concatBytes(messages.map(encodeSyncMessage));
  equal(toHex(encodeSyncMessage(messages[0])), "0000000b8201480123456789abcdef");
  equal(toHex(sha256(bytes)), "000b79153654db50525063af1cc44b029ae849b85d356c5e2ea5e27476b33b1c");
});
