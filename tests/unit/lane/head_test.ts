// Do the quick writer and reader of heads agree with a general CBOR library, on any head and any bytes?
import { deepEqual, equal } from "node:assert/strict";
import { decode, encode } from "cborg";
import fc from "fast-check";
import {
  decodeRequest,
  decodeResponse,
  encodeEnd,
  encodeHead,
  type WireRequest,
  type WireResponse,
} from "../../../lib/lane/head.ts";
import { readHead } from "../../../lib/lane/head_reader.ts";

const text = fc.oneof(
  fc.string({ maxLength: 300 }),
  fc.string({ unit: "grapheme", maxLength: 40 }),
  fc.constantFrom("", "é", "content-type", "x".repeat(23), "x".repeat(24), "x".repeat(256)),
);
const headers = fc.array(fc.tuple(text, text), { maxLength: 30 }).map((pairs) => pairs.flat());
const count = fc.oneof(
  fc.nat(300),
  fc.constantFrom(0, 23, 24, 255, 256, 65_535, 65_536, 2 ** 32 - 1, 2 ** 32, 2 ** 53 - 1),
);
const request: fc.Arbitrary<WireRequest> = fc.record({
  s: text,
  m: text,
  p: text.map((path) => "/" + path),
  h: headers,
  n: fc.oneof(fc.constant(-1), count),
  w: count,
  u: fc.constant(1 as const),
}, { requiredKeys: ["s", "m", "p", "h", "n", "w"] });
const response: fc.Arbitrary<WireResponse> = fc.record({
  s: fc.integer({ min: 101, max: 599 }),
  h: headers,
  l: count,
}, { requiredKeys: ["s", "h"] });

Deno.test("encodeHead writes what a general encoder writes, and the decoders read it back", () => {
  fc.assert(fc.property(request, (head) => {
    const bytes = encodeHead(head).slice();
    deepEqual(bytes, encode(head));
    deepEqual({ ...decodeRequest(bytes) }, head);
  }));
  fc.assert(fc.property(response, (head) => {
    const bytes = encodeHead(head).slice();
    deepEqual(bytes, encode(head));
    deepEqual({ ...decodeResponse(bytes) }, head);
  }));
  for (const load of [undefined, 0, 7, 70_000]) {
    deepEqual(decode(encodeEnd([], load)), load === undefined ? {} : { l: load });
    deepEqual(decode(encodeEnd(["a", "b"], load)).t, ["a", "b"]);
  }
});

Deno.test("readHead leaves a form to the general decoder or reads the same, for damaged heads too", () => {
  const damage = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 3 });
  const ascii = fc.string({ maxLength: 300 });
  const plain = fc.record({ s: ascii, h: fc.array(ascii, { maxLength: 20 }), n: count }).map((
    head,
  ) => encode(head));
  const wild = fc.oneof(request, response).map((head) => encodeHead(head).slice());
  let readCount = 0;
  fc.assert(
    fc.property(fc.oneof(plain, wild), damage, fc.nat(), (whole, changes, cut) => {
      const bytes = whole.slice();
      for (const [at, value] of changes) bytes[at % bytes.length] = value;
      const piece = cut % 4 === 0 ? bytes.subarray(0, cut % bytes.length) : bytes;
      const fields = readHead(piece);
      if (!fields) return;
      readCount++;
      deepEqual({ ...fields }, decode(piece));
    }),
    { numRuns: 2_000 },
  );
  equal(readCount > 100, true);
});
