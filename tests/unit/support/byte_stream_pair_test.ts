// Does the pair that lane tests rely on keep the contract of ByteStream?
import { equal } from "node:assert/strict";
import { testByteStream } from "../../contract/byte_stream.ts";
import { byteStreamPair } from "../../support/byte_stream_pair.ts";
import { recordStream } from "../../support/byte_stream_record.ts";
import { seededRandom } from "../../../lib/sim/seeded_random.ts";
import { within } from "../../support/within.ts";

testByteStream("byteStreamPair", () => {
  const pair = byteStreamPair();
  return Promise.resolve({ ...pair, cut: () => pair.cut(new Error("cut")), close: () => {} });
});

testByteStream("byteStreamPair cut at random", () => {
  const random = seededRandom(7);
  const pair = byteStreamPair({ cutAt: (left) => 1 + Math.floor(random() * left) });
  return Promise.resolve({ ...pair, cut: () => pair.cut(new Error("cut")), close: () => {} });
});

Deno.test("byteStreamPair keeps bytes unsent while held", async () => {
  const { a, b, hold, release } = byteStreamPair({ unsentBytesMax: 10 });
  const [left, right] = [recordStream(a), recordStream(b)];
  hold();
  equal(a.send(new Uint8Array(9)), true);
  equal(a.send(new Uint8Array(9)), false);
  await new Promise((resolve) => setTimeout(resolve, 0));
  equal(a.unsentBytes, 18);
  equal(right.bytes().byteLength, 0);
  release();
  await within(1_000, Promise.all([left.drained(), right.hasBytes(18)]));
  equal(a.unsentBytes, 0);
});
