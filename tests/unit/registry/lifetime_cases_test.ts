// What the reference got wrong about how long records live (weaknesses.md, part B). Each test has the number of the bug.
import { deepEqual, equal, ok } from "node:assert/strict";
import { hourMs, minuteMs, secondMs } from "../../../lib/base/units.ts";
import { startAutomerge } from "../../../lib/registry/automerge.ts";
import { encodeEnvelope } from "../../../lib/registry/envelope.ts";
import type { LoadResult } from "../../../lib/registry/peer_claims.ts";
import { envelopeNamed, identityNamed } from "../../support/registry_keys.ts";
import {
  claimOf,
  counted,
  published,
  RegistryNode,
  runNamed,
  strangerId,
} from "../../support/registry_node.ts";
import { SyncLink } from "../../support/sync_link.ts";

await startAutomerge();

const leaseMs = 3 * hourMs;
const badDocument = Uint8Array.of(1, 2, 3);
const hasEntry = (at: RegistryNode, of: RegistryNode) => at.registry.entries.has(of.peerId);

Deno.test("B25: an old record that is told again moves no time and tells nobody anything", () => {
  const [node, x] = ["n", "x"].map((name) => new RegistryNode({ name }));
  const [old, young] = [{ at: "1" }, { at: "2" }].map((labels) =>
    published(x.set(claimOf({ labels })))[0]
  );
  node.receive(young, hourMs);
  const entry = node.registry.entries.get(x.peerId);
  const { root, version } = node.registry;
  const effects = [
    ...node.receive(old, 2 * hourMs),
    ...node.receive(young, 2 * hourMs), // The same again, handed on late.
    ...node.did(node.registry.arrived(strangerId, [old, young]), 2 * hourMs),
    ...node.workOff(2 * hourMs),
  ];
  deepEqual(effects.map(({ type }) => type), new Array(4).fill("count"));
  equal(node.registry.entries.get(x.peerId)?.receivedAtMs, entry?.receivedAtMs);
  deepEqual(node.registry.entries.get(x.peerId)?.claim.labels, { at: "2" });
  deepEqual([node.registry.root, node.registry.version], [root, version]);
  node.tick(hourMs + leaseMs);
  ok(!hasEntry(node, x), "its lease counts from when it was news");
});

Deno.test("B26: a record that is seen once, by way of others, ends by itself", () => {
  const [node, x] = ["n", "x"].map((name) => new RegistryNode({ name }));
  node.receive(published(x.set(claimOf()))[0], 7 * hourMs);
  node.tick(7 * hourMs + leaseMs - 1);
  ok(hasEntry(node, x));
  node.tick(7 * hourMs + leaseMs);
  ok(!hasEntry(node, x));
});

Deno.test("B32: a record is news of its author, not of who hands it on", () => {
  const [node, x, y] = ["n", "x", "y"].map((name) => new RegistryNode({ name }));
  const [ofX, ofY] = [x, y].map((owner) => published(owner.set(claimOf()))[0]);
  node.receive(ofY, 0, y.peerId);
  node.receive(ofX, hourMs, y.peerId);
  const receivedAtMs = (of: RegistryNode) => node.registry.entries.get(of.peerId)?.receivedAtMs;
  deepEqual([receivedAtMs(x), receivedAtMs(y)], [hourMs, 0]);
  node.tick(leaseMs);
  deepEqual([hasEntry(node, x), hasEntry(node, y)], [true, false]);
});

Deno.test("B41: clean-up of a former life's record never takes the present one", () => {
  const node = new RegistryNode({ name: "n" });
  const lives = [1, 2].map((epoch) =>
    new RegistryNode({ name: "x", epoch, run: runNamed(`life ${epoch}`) })
  );
  const [former, present] = lives.map((life) => published(life.set(claimOf()))[0]);
  node.receive(former, 0);
  const [farewell] = published(lives[0].did(lives[0].registry.withdrawn(1), 1));
  node.receive(present, leaseMs - minuteMs);
  node.receive(farewell, leaseMs - secondMs); // It was on its way for long.
  for (const nowMs of [leaseMs, leaseMs + hourMs]) {
    node.tick(nowMs);
    ok(hasEntry(node, lives[1]), `at ${nowMs}`);
  }
  node.tick(2 * leaseMs);
  ok(!hasEntry(node, lives[1]));
  // It comes back after its record ended, and that memory does not keep it out.
  const [again] = published(
    new RegistryNode({ name: "x", epoch: 3, run: runNamed("life 3") }).set(claimOf()),
  );
  deepEqual(counted(node.receive(again, 2 * leaseMs)), []);
  ok(hasEntry(node, lives[1]));
});

Deno.test("B42: a dead peer's record ends on all nodes, with services or without", () => {
  const [a, b] = ["a", "b"].map((name) => new RegistryNode({ name }));
  const dead = [claimOf(), claimOf({ services: [] })].map((claim, at) => {
    const node = new RegistryNode({ name: `dead ${at}` });
    a.receive(published(node.set(claim))[0], 0);
    return node;
  });
  new SyncLink(a, b).tick(minuteMs);
  for (const node of dead) ok(hasEntry(b, node));
  for (let nowMs = minuteMs; nowMs < leaseMs + minuteMs; nowMs += minuteMs) {
    // They tell each other of it to the end, and that does not feed it.
    new SyncLink(a, b).tick(nowMs);
    for (const { peerId } of dead) {
      for (const [from, to] of [[a, b], [b, a]]) {
        const bytes = from.registry.envelopeOf(peerId, nowMs);
        if (bytes) to.receive(bytes, nowMs, from.peerId);
      }
    }
    [a, b].forEach((node) => node.tick(nowMs));
  }
  deepEqual([a, b].map((node) => node.registry.entries.size), [0, 0]);
});

Deno.test("B52: while one document hangs in the loader the claims of others come in", () => {
  const node = new RegistryNode({ name: "n" });
  const hanging = envelopeNamed("hanging", { document: badDocument });
  const { effects } = node.registry.envelopeReceived(strangerId, encodeEnvelope(hanging), 0);
  deepEqual(effects.map(({ type }) => type), ["loadClaim"]); // Nobody ever answers that.
  const others = Array.from({ length: 20 }, (_, at) => new RegistryNode({ name: `other ${at}` }));
  node.registry.arrived(strangerId, others.map((other) => published(other.set(claimOf()))[0]));
  node.workOff(0);
  for (const other of others) ok(hasEntry(node, other));
  const [, next] = others.map((other) => published(other.set(claimOf({ labels: { at: "2" } })))[0]);
  node.receive(next, secondMs);
  deepEqual(node.registry.entries.get(others[1].peerId)?.claim.labels, { at: "2" });
  equal(node.registry.backlogCount, 1);
});

Deno.test("B54: a record that cannot be read is given up, remembered, and told to nobody", () => {
  let loads = 0;
  const refused: LoadResult = { type: "refused", reason: "bad_claim" };
  const node = new RegistryNode({ name: "n", load: () => (loads++, refused) });
  const { owner } = envelopeNamed("x", { document: badDocument });
  const bytesOf = (seq: number) =>
    encodeEnvelope(envelopeNamed("x", { document: badDocument, seq }));
  deepEqual(counted(node.receive(bytesOf(1))), ["bad_claim"]);
  for (let seq = 1; seq <= 20; seq++) {
    const { verdict, effects } = node.registry.envelopeReceived(strangerId, bytesOf(seq), seq);
    equal(verdict, "ignore", "it is not passed on");
    deepEqual(counted(effects), ["refused_before"]);
  }
  equal(loads, 1);
  equal(node.registry.envelopeOf(owner, 0), undefined);
  deepEqual([...node.registry.snapshot(0).envelopes], []);
  const peer = new RegistryNode({ name: "p" });
  new SyncLink(node, peer).tick(minuteMs);
  equal(peer.registry.entries.size, 0);
  // What the same owner says next is read: it is not shut out for one bad record.
  const next = new RegistryNode({ name: "n" });
  next.receive(bytesOf(1));
  const good = new RegistryNode({ name: "x", epoch: 2 });
  next.receive(published(good.set(claimOf()))[0], minuteMs);
  ok(hasEntry(next, good));
});

Deno.test("B60: telling a record again, for whatever reason, brings no withdrawn service back", () => {
  const [peer, worker] = ["p", "w"].map((name) => new RegistryNode({ name }));
  const servicesAtPeer = () => peer.registry.entries.get(worker.peerId)?.claim.services.length;
  const [offering] = published(worker.set(claimOf()));
  peer.receive(offering);
  equal(servicesAtPeer(), 1);
  const bare = claimOf({ services: [] });
  const said = [
    ...worker.set(bare, secondMs), // Its engine is dead.
    ...worker.tick(2 * hourMs), // A renewal.
    ...worker.did(worker.registry.epochSeen(1, 3 * hourMs), 3 * hourMs), // A new epoch.
    ...worker.receive(offering, 3 * hourMs), // Somebody hands the old one back.
    ...worker.set(bare, 4 * hourMs),
  ];
  const all = published(said);
  ok(all.length >= 3);
  for (const [at, bytes] of all.entries()) {
    peer.receive(bytes, at * hourMs);
    equal(servicesAtPeer(), 0);
    peer.receive(offering, at * hourMs);
    equal(servicesAtPeer(), 0);
  }
  worker.set(claimOf(), 5 * hourMs);
  peer.receive(published(worker.effects).at(-1)!, 5 * hourMs);
  equal(servicesAtPeer(), 1, "healthy again");
  equal(peer.registry.entries.has(identityNamed("w").peerId), true);
});
