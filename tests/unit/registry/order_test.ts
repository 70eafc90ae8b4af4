import { equal } from "node:assert/strict";
import fc from "fast-check";
import { compareHeads } from "../../../lib/registry/order.ts";

const head = fc.record({
  epoch: fc.nat(3),
  seq: fc.nat(3),
  hash: fc.constantFrom("00", "7f", "ff"),
});

Deno.test("compareHeads: epoch before seq before hash", () => {
  const base = { epoch: 1, seq: 1, hash: "0a" };
  equal(compareHeads(base, base), 0);
  equal(Math.sign(compareHeads({ ...base, epoch: 2, seq: 0 }, base)), 1);
  equal(Math.sign(compareHeads({ ...base, seq: 2, hash: "00" }, base)), 1);
  equal(Math.sign(compareHeads({ ...base, hash: "0b" }, base)), 1);
});

Deno.test("compareHeads: is a total order", () => {
  fc.assert(fc.property(head, head, head, (a, b, c) => {
    equal(Math.sign(compareHeads(a, b)) + Math.sign(compareHeads(b, a)), 0);
    if (compareHeads(a, b) <= 0 && compareHeads(b, c) <= 0) equal(compareHeads(a, c) <= 0, true);
    const isSame = a.epoch === b.epoch && a.seq === b.seq && a.hash === b.hash;
    equal(compareHeads(a, b) === 0, isSame);
  }));
});
