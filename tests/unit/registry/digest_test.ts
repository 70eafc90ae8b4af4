import { deepEqual, equal, notEqual, ok } from "node:assert/strict";
import fc from "fast-check";
import { bucketOf, TableDigest } from "../../../lib/registry/digest.ts";
import type { EnvelopeHead } from "../../../lib/registry/order.ts";
import { identityNamed } from "../../support/registry_keys.ts";

const owners = Array.from({ length: 30 }, (_, at) => identityNamed(`owner ${at}`).peerId);
const head = fc.record({
  owner: fc.constantFrom(...owners),
  epoch: fc.nat(5),
  seq: fc.nat(5),
  hash: fc.constantFrom("aa", "bb"),
});

/** The simple version: everything anew from what is held. */
function digestOf(heads: Iterable<EnvelopeHead>): TableDigest {
  const digest = new TableDigest();
  for (const held of heads) digest.toggle(held);
  return digest;
}

Deno.test("TableDigest: kept up to date equals made anew, whatever the order of changes", () => {
  fc.assert(fc.property(fc.array(head, { maxLength: 40 }), (changes) => {
    const kept = new TableDigest();
    const held = new Map<string, EnvelopeHead>();
    for (const change of changes) {
      const former = held.get(change.owner);
      if (former) kept.toggle(former);
      kept.toggle(change);
      held.set(change.owner, change);
    }
    const anew = digestOf([...held.values()].reverse());
    equal(kept.root, anew.root);
    deepEqual(kept.bucketHashes(), anew.bucketHashes());
  }));
});

Deno.test("TableDigest: finds exactly the buckets of what differs", () => {
  const base = owners.map((owner) => ({ owner, epoch: 1, seq: 1, hash: "aa" }));
  const changed = base.map((held, at) => at % 10 === 0 ? { ...held, seq: 2 } : held);
  const [a, b] = [digestOf(base), digestOf(changed)];
  notEqual(a.root, b.root);
  const expected = new Set([0, 10, 20].map((at) => bucketOf(owners[at])));
  deepEqual(a.differingBuckets(b.bucketHashes()), [...expected].sort((x, y) => x - y));
  deepEqual(a.differingBuckets(a.bucketHashes()), []);
});

Deno.test("TableDigest: a root is 8 bytes, and an empty table has one too", () => {
  ok(/^[0-9a-f]{16}$/.test(new TableDigest().root));
});

Deno.test("bucketOf: spreads a thousand owners over the buckets", () => {
  const counts = new Array(256).fill(0);
  for (let at = 0; at < 1_000; at++) counts[bucketOf(identityNamed(`spread ${at}`).peerId)]++;
  ok(Math.max(...counts) < 20, `${Math.max(...counts)}`); // 4 on average.
});
