// Is an array from a slab like one of its own?
import { deepEqual, equal, notEqual } from "node:assert/strict";
import { ByteSlab } from "../../../lib/base/byte_slab.ts";

Deno.test("ByteSlab lends no byte twice, whatever is asked of it", () => {
  const slab = new ByteSlab();
  const lent = Array.from({ length: 2_000 }, (_, i) => {
    const bytes = slab.take((i * 37) % 2_100);
    equal(bytes.length, (i * 37) % 2_100);
    equal(bytes.every((byte) => byte === 0), true, "it is empty");
    return bytes.fill(i);
  });
  for (const [i, bytes] of lent.entries()) {
    equal(bytes.every((byte) => byte === i % 256), true, `array ${i} is as it was left`);
  }
});

Deno.test("ByteSlab takes many small arrays from one buffer, and gives a large one its own", () => {
  const slab = new ByteSlab();
  const buffers = new Set(Array.from({ length: 100 }, () => slab.take(300).buffer));
  equal(buffers.size, 2, "30,000 bytes are two slabs of 16 KiB");
  const large = slab.take(100_000);
  equal(large.buffer.byteLength, 100_000);
  notEqual(slab.take(1).buffer, large.buffer);
});

Deno.test("ByteSlab copies what then does not follow its source", () => {
  const source = Uint8Array.of(1, 2, 3);
  const copied = new ByteSlab().copy(source);
  source.fill(9);
  deepEqual([...copied], [1, 2, 3]);
});
