import { deepEqual, equal, ok } from "node:assert/strict";
import { startAutomerge } from "../../../lib/registry/automerge.ts";
import { claimOf, published, RegistryNode } from "../../support/registry_node.ts";
import { SyncLink } from "../../support/sync_link.ts";
import { seededRandom } from "../../support/seeded_random.ts";

await startAutomerge();

/** Envelopes of `count` owners; made once, as signing and Automerge dominate these tests. */
function envelopesOf(prefix: string, count: number): Uint8Array[] {
  return Array.from({ length: count }, (_, at) => {
    const owner = new RegistryNode({ name: `${prefix}${at}` });
    return published(owner.set(claimOf({ labels: { at: String(at) } })))[0];
  });
}

const common = envelopesOf("common", 20);
const onlyA = envelopesOf("only-a", 12);
const onlyB = envelopesOf("only-b", 9);

/** Two nodes that agree on twenty claims and differ in many ways otherwise. */
function divergentPair(): [RegistryNode, RegistryNode] {
  const a = new RegistryNode({ name: "a" });
  const b = new RegistryNode({ name: "b" });
  a.set(claimOf());
  b.set(claimOf());
  for (const bytes of [...common, ...onlyA]) a.receive(bytes);
  for (const bytes of [...common, ...onlyB]) b.receive(bytes);
  return [a, b];
}

Deno.test("SyncSession: makes two tables equal on a new connection, then is silent", () => {
  const [a, b] = divergentPair();
  const link = new SyncLink(a, b);
  link.settle(0);
  deepEqual(a.table, b.table);
  equal(a.registry.root, b.registry.root);
  equal(a.table.length, 43);
  link.tick(1_000); // Each tells the other its last root.
  for (let nowMs = 2_000; nowMs < 60_000; nowMs += 1_000) equal(link.tick(nowMs), false);
});

Deno.test("C044: tables become equal with fewer than 50 messages, whichever message is lost", () => {
  const whole = new SyncLink(...divergentPair());
  whole.settle(0);
  ok(whole.messageCount > 4);
  for (let lost = 1; lost <= whole.messageCount; lost++) {
    const [a, b] = divergentPair();
    const first = new SyncLink(a, b, { isLost: (count) => count >= lost });
    first.settle(0);
    const second = new SyncLink(a, b); // The connection broke with the loss; its state is gone.
    second.settle(100);
    deepEqual(a.table, b.table, `lost message ${lost}`);
    ok(first.messageCount + second.messageCount < 50);
    second.tick(1_000);
    equal(second.tick(2_000), false);
  }
});

Deno.test("C044: tables become equal within 5 s under 20 % loss with reconnects, then traffic ends", () => {
  for (const seed of [1, 7, 42]) {
    const random = seededRandom(seed);
    const [a, b] = divergentPair();
    let messageCount = 0;
    let nowMs = 0;
    while (a.registry.root !== b.registry.root) {
      let isBroken = false;
      const link = new SyncLink(a, b, { isLost: () => isBroken ||= random() < 0.2 });
      link.settle(nowMs);
      messageCount += link.messageCount;
      nowMs += 100; // Redial.
    }
    ok(nowMs <= 5_000, `seed ${seed} took ${nowMs} ms`);
    ok(messageCount < 50 * 10);
    const calm = new SyncLink(a, b);
    calm.settle(nowMs);
    ok(calm.messageCount <= 2, "equal tables say their roots and nothing else");
    for (let second = 1; second < 10; second++) equal(calm.tick(nowMs + second * 1_000), false);
  }
});
