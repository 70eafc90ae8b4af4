import { deepEqual, equal, ok, throws } from "node:assert/strict";
import { hourMs } from "../../../lib/base/units.ts";
import { startAutomerge } from "../../../lib/registry/automerge.ts";
import { encodeEnvelope } from "../../../lib/registry/envelope.ts";
import type { LoadResult } from "../../../lib/registry/peer_claims.ts";
import { SyncSession } from "../../../lib/registry/sync.ts";
import { encodeSyncMessage } from "../../../lib/registry/sync_messages.ts";
import { envelopeNamed, identityNamed, openPorts } from "../../support/registry_keys.ts";
import { claimOf, published, RegistryNode } from "../../support/registry_node.ts";
import { SyncLink } from "../../support/sync_link.ts";
import { seededRandom } from "../../../lib/sim/seeded_random.ts";

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

Deno.test("SyncSession: finds later differences too, a second after they appear", () => {
  const [a, b] = divergentPair();
  const link = new SyncLink(a, b);
  link.settle(0);
  for (let round = 1; round <= 3; round++) {
    const nowMs = round * 60_000;
    equal(link.isSyncing, false);
    a.set(claimOf({ labels: { round: `a${round}` } }), nowMs);
    b.set(claimOf({ labels: { round: `b${round}` } }), nowMs);
    for (let second = 0; second <= 2; second++) link.tick(nowMs + second * 1_000);
    deepEqual(a.table, b.table, `round ${round}`);
  }
});

Deno.test("SyncSession: a connection that replaces another starts anew beside it", () => {
  const [a, b] = divergentPair();
  const old = new SyncLink(a, b, { isLost: (count) => count > 3 });
  old.settle(0);
  const fresh = new SyncLink(a, b);
  fresh.settle(10);
  deepEqual(a.table, b.table);
  old.tick(1_000); // Its other end may be heard until it closes.
  deepEqual(a.table, b.table);
});

Deno.test("SyncSession: a difference that cannot be settled costs less and less", () => {
  const [denied] = [identityNamed("only-a0").peerId];
  const [a] = divergentPair();
  const overrides = { ports: { ...openPorts, isDenied: (owner: string) => owner === denied } };
  const b = new RegistryNode({ name: "b", overrides });
  b.set(claimOf());
  const link = new SyncLink(a, b);
  link.settle(0);
  equal(b.registry.entries.has(denied), false);
  const startBytes = link.byteCount;
  for (let second = 1; second <= 600; second++) link.tick(second * 1_000);
  const perSecond = (link.byteCount - startBytes) / 600;
  ok(perSecond > 0 && perSecond < 200, `${perSecond} bytes a second`);
});

Deno.test("SyncSession: an owner whose lease has ended here is told, and speaks up again", () => {
  for (const isInitiator of [true, false]) {
    const [a, b] = ["a", "b"].map((name) => new RegistryNode({ name, leaseS: 3_600 }));
    a.set(claimOf(), 0);
    b.set(claimOf(), 0);
    new SyncLink(a, b).settle(0);
    b.tick(hourMs); // a was frozen, so it has not renewed anything.
    equal(b.registry.entries.has(a.peerId), false);
    const link = isInitiator ? new SyncLink(a, b) : new SyncLink(b, a);
    link.settle(hourMs);
    equal(a.registry.entries.get(a.peerId)?.seq, 2);
    for (let second = 1; second <= 3; second++) link.tick(hourMs + second * 1_000);
    deepEqual(a.table, b.table);
    equal(a.table.length, 2);
  }
});

Deno.test("SyncSession: gives large claims in messages within their bound", () => {
  const loaded: LoadResult = {
    type: "loaded",
    loaded: { claim: claimOf(), origin: { host: "", uptimeMs: 0 } },
  };
  const [a, b] = ["a", "b"].map((name) => new RegistryNode({ name, load: () => loaded }));
  for (let at = 0; at < 70; at++) {
    a.receive(encodeEnvelope(envelopeNamed(`large ${at}`, { document: new Uint8Array(16_000) })));
  }
  const link = new SyncLink(b, a);
  link.settle(0);
  deepEqual(b.table, a.table);
  equal(b.table.length, 70);
  ok(link.longestBytes <= 65_540, `${link.longestBytes}`);
});

Deno.test("SyncSession: ends a peer that asks on without waiting", () => {
  const [a] = divergentPair();
  const peer = identityNamed("greedy").peerId;
  const session = new SyncSession({ peer, isInitiator: false, table: a.registry });
  const want = encodeSyncMessage({ type: "want", owners: [a.peerId] });
  for (let count = 0; count < 4; count++) session.received(want, 0);
  throws(() => session.received(want, 0), /at most 4 wants/);
});
