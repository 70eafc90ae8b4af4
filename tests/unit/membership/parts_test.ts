import { deepEqual, equal, ok } from "node:assert/strict";
import { DepartedDigest } from "../../../lib/membership/departed_digest.ts";
import { compareIncarnations, counterLast, outbid } from "../../../lib/membership/incarnation.ts";
import { retransmitLimit, RumourQueue } from "../../../lib/membership/rumour_queue.ts";
import { SelfDoubt } from "../../../lib/membership/self_doubt.ts";
import { peerNumbered } from "../../../lib/sim/peer_names.ts";
import { rumourOf } from "../../support/membership_node.ts";

Deno.test("outbid gives the least incarnation above another, a new epoch when the old one has ended", () => {
  deepEqual(outbid({ epoch: 3, counter: 0 }), { epoch: 3, counter: 1 });
  deepEqual(outbid({ epoch: 3, counter: counterLast }), { epoch: 4, counter: 0 });
  ok(
    compareIncarnations(outbid({ epoch: 3, counter: counterLast - 1 }), {
      epoch: 3,
      counter: counterLast,
    }) > 0,
  );
});

Deno.test("retransmitLimit grows with the digits of the mesh (memberlist's formula)", () => {
  deepEqual([1, 9, 10, 99, 100, 999, 5_000].map(retransmitLimit), [4, 4, 8, 8, 12, 12, 16]);
});

Deno.test("RumourQueue tells each rumour as often as allowed, in turn", () => {
  const queue = new RumourQueue();
  const rumours = [1, 2, 3, 4, 5].map((number) => rumourOf("goodbye", peerNumbered(number)));
  for (const rumour of rumours) queue.add(rumour, 2);
  const told: unknown[] = [];
  for (let message = 0; message < 10; message++) {
    const taken = queue.take();
    ok(taken.length <= 3);
    told.push(...taken);
  }
  for (const rumour of rumours) equal(told.filter((one) => one === rumour).length, 2);
  equal(queue.size, 0);
});

Deno.test("RumourQueue forgets accusations that were outbid, and no others", () => {
  const queue = new RumourQueue();
  const [subject, signer] = [peerNumbered(1), peerNumbered(2)];
  queue.add(rumourOf("failed", subject, signer, { epoch: 1, counter: 4 }), 9);
  queue.add(rumourOf("failed", peerNumbered(3), signer), 9);
  queue.dropFailures(subject, { epoch: 1, counter: 4 });
  equal(queue.size, 2);
  queue.dropFailures(subject, { epoch: 1, counter: 5 });
  equal(queue.size, 1);
});

Deno.test("RumourQueue holds no more than its bound", () => {
  const queue = new RumourQueue();
  for (let number = 0; number < 2_000; number++) {
    queue.add(rumourOf("goodbye", peerNumbered(number)), 9);
  }
  equal(queue.size, 512);
});

Deno.test("DepartedDigest is equal for equal sets in any order, and names what differs", () => {
  const [one, two] = [new DepartedDigest(), new DepartedDigest()];
  const incarnation = { epoch: 1, counter: 0 };
  const numbers = Array.from({ length: 50 }, (_, number) => number);
  for (const number of numbers) one.toggle(peerNumbered(number), incarnation);
  for (const number of numbers.reverse()) two.toggle(peerNumbered(number), incarnation);
  equal(one.root, two.root);
  two.toggle(peerNumbered(99), incarnation);
  ok(one.root !== two.root);
  equal(one.differing(two.buckets()).size, 1);
  two.toggle(peerNumbered(99), incarnation);
  equal(one.root, two.root);
  equal(new DepartedDigest().root, 0);
});

Deno.test("SelfDoubt multiplies timeouts by one to nine (Lifeguard, local health)", () => {
  const doubt = new SelfDoubt();
  equal(doubt.factor, 1);
  for (let time = 0; time < 20; time++) doubt.raised();
  equal(doubt.factor, 9);
  for (let time = 0; time < 20; time++) doubt.eased();
  equal(doubt.factor, 1);
});

Deno.test("SelfDoubt knows that it was frozen when it wakes more than a second late", () => {
  const doubt = new SelfDoubt();
  doubt.expects(5_000);
  equal(doubt.frozenMs(6_000), 0);
  equal(doubt.frozenMs(6_001), 1_001);
});
