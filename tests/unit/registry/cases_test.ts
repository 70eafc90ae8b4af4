// The cases of the area registry that a registry alone can show; processes are in the integration tests.
import { deepEqual, equal, ok } from "node:assert/strict";
import { hourMs, minuteMs, secondMs } from "../../../lib/base/units.ts";
import { concatBytes } from "../../../lib/base/concat_bytes.ts";
import { startAutomerge } from "../../../lib/registry/automerge.ts";
import { decodeSnapshot, encodeSnapshot } from "../../../lib/registry/snapshot.ts";
import { claimOf, published, RegistryNode, runNamed } from "../../support/registry_node.ts";
import { SyncLink } from "../../support/sync_link.ts";

await startAutomerge();
const leaseMs = 3 * hourMs;

Deno.test("C041: a dead node's claim ends on both sides of a split and no merge brings it back", () => {
  const [a, b, c] = ["a", "b", "c"].map((name) => new RegistryNode({ name }));
  const renew = (nowMs: number) =>
    [a, b].flatMap((node) => published(node.set(claimOf({ labels: { at: `${nowMs}` } }), nowMs)));
  const ofC = published(c.set(claimOf()))[0];
  for (const bytes of renew(0)) [a, b].forEach((node) => node.receive(bytes, 0));
  a.receive(ofC, 0);
  b.receive(ofC, 30 * secondMs); // C is killed; B heard of it 30 s later than A.
  const endMs = leaseMs + 30 * secondMs;
  for (const bytes of renew(leaseMs - minuteMs)) {
    [a, b].forEach((node) => node.receive(bytes, leaseMs - minuteMs));
  }
  let nowMs = leaseMs - 5 * secondMs;
  let wasGoneAtA = false;
  for (let merge = 0; merge < 50; merge++, nowMs += secondMs) {
    new SyncLink(a, b).tick(nowMs);
    a.receive(ofC, nowMs); // Somebody replays it, too.
    const isAtA = a.registry.entries.has(c.peerId);
    ok(!(wasGoneAtA && isAtA), `back at ${nowMs}`);
    wasGoneAtA ||= !isAtA;
    equal(a.registry.entries.has(c.peerId), nowMs < leaseMs);
    equal(b.registry.entries.has(c.peerId), nowMs < endMs);
  }
  deepEqual(a.table, b.table);
  equal(a.table.length, 2);
  // Neither a snapshot nor a peer that slept brings it back.
  const parts = [...encodeSnapshot(a.registry.snapshot(nowMs))];
  const restored = decodeSnapshot(concatBytes(parts));
  const again = new RegistryNode({ name: "a", epoch: 2, run: runNamed("again") });
  again.did(again.registry.restored(restored, 0), 0);
  again.workOff(0);
  again.receive(ofC, 0);
  equal(again.registry.entries.has(c.peerId), false);
  equal(again.registry.entries.has(b.peerId), true);
});

Deno.test("C042: after 20 restarts a node has one entry, whether it was killed or left", () => {
  const peer = new RegistryNode({ name: "peer" });
  const seen: number[] = [];
  for (let start = 1; start <= 20; start++) {
    const nowMs = start * 6 * secondMs;
    // The epoch file survived every second time; else the node only learns its epoch from its peer.
    const epoch = start % 2 === 0 ? start : 1;
    const node = new RegistryNode({ name: "worker", epoch, run: runNamed(`life ${start}`) });
    const claim = claimOf({ labels: { start: String(start) } });
    for (const bytes of published(node.set(claim, nowMs))) peer.receive(bytes, nowMs);
    new SyncLink(node, peer, {}).tick(nowMs);
    new SyncLink(node, peer, {}).tick(nowMs + 2 * secondMs);
    deepEqual(peer.registry.entries.get(node.peerId)?.claim, claim, `start ${start}`);
    seen.push(peer.registry.entries.size);
    equal(node.effects.some(({ type }) => type === "reportDuplicate"), false, `start ${start}`);
  }
  deepEqual(seen, new Array(20).fill(1));
});

Deno.test("C042: an ephemeral node's entry goes with its clean exit, else with its short lease", () => {
  const peer = new RegistryNode({ name: "peer" });
  for (const [at, isClean] of [true, false].entries()) {
    const node = new RegistryNode({ name: `job ${at}`, leaseS: 600 });
    peer.receive(published(node.set(claimOf()))[0], 0);
    const farewell = isClean ? published(node.did(node.registry.withdrawn(1), 1)) : [];
    for (const bytes of farewell) peer.receive(bytes, 1);
    equal(peer.registry.entries.has(node.peerId), !isClean);
  }
  peer.tick(10 * minuteMs);
  equal(peer.registry.entries.size, 0);
});
