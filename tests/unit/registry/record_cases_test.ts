// What the reference got wrong about records (weaknesses.md, part B). Each test has the number of the bug.
import { deepEqual, equal, ok } from "node:assert/strict";
import { load } from "@automerge/automerge/slim";
import fc from "fast-check";
import { concatBytes } from "../../../lib/base/concat_bytes.ts";
import type { PeerId } from "../../../lib/base/peer_id.ts";
import { isPeerId } from "../../../lib/base/peer_id.ts";
import { hourMs, secondMs } from "../../../lib/base/units.ts";
import { encodeProbeMessage } from "../../../lib/membership/probe_message.ts";
import { startAutomerge } from "../../../lib/registry/automerge.ts";
import type { Claim } from "../../../lib/registry/claim.ts";
import { decodeEnvelope, encodeEnvelope, type Envelope } from "../../../lib/registry/envelope.ts";
import { compareHeads } from "../../../lib/registry/order.ts";
import type { LoadResult } from "../../../lib/registry/peer_claims.ts";
import { decodeSnapshot, encodeSnapshot } from "../../../lib/registry/snapshot.ts";
import { anyProbeMessage } from "../../support/probe_messages.ts";
import { envelopeNamed, identityNamed } from "../../support/registry_keys.ts";
import {
  claimOf,
  counted,
  published,
  RegistryNode,
  runNamed,
} from "../../support/registry_node.ts";
import { SyncLink } from "../../support/sync_link.ts";

await startAutomerge();

const document = Uint8Array.of(1, 2, 3);
const labelled = (at: number): Claim => claimOf({ labels: { at: String(at) } });

function decoded(bytes: Uint8Array): Envelope {
  const envelope = decodeEnvelope(bytes);
  ok(typeof envelope !== "string");
  return envelope;
}

function claimAt(node: RegistryNode, owner: PeerId): Claim | undefined {
  return node.registry.entries.get(owner)?.claim;
}

Deno.test("B33: what is no whole claim is never held, and never takes the place of one", () => {
  const [node, x] = ["n", "x"].map((name) => new RegistryNode({ name }));
  node.registry.connectionOpened(x.peerId);
  equal(node.registry.entries.size, 0, "a connection alone makes no record");
  const [full] = published(x.set(claimOf()));
  const [renewal] = published(x.tick(2 * hourMs));
  equal(decoded(renewal).document, null);
  deepEqual(counted(node.receive(renewal)), ["no_document"]);
  equal(node.registry.entries.size, 0);
  node.receive(full);
  deepEqual(claimAt(node, x.peerId), claimOf(), "the part that came first is not in its way");
  const bare = envelopeNamed("x", { document, epoch: 9 });
  deepEqual(counted(node.receive(encodeEnvelope(bare))), ["bad_claim"]);
  deepEqual(claimAt(node, x.peerId), claimOf());
  equal(decoded(node.registry.envelopeOf(x.peerId, 0)!).epoch, 1, "others get the whole one");
});

Deno.test("B34: a node takes its own record from everywhere, and the first one it tells is whole", () => {
  const [node, peer] = ["a", "b"].map((name) => new RegistryNode({ name }));
  const [first] = published(node.set(claimOf()));
  ok(decoded(first).document);
  deepEqual(counted(peer.receive(first, 0, node.peerId)), []);
  deepEqual(claimAt(peer, node.peerId), claimOf());
  const { root, version } = node.registry;
  const stored = [...encodeSnapshot(peer.registry.snapshot(0))];
  const effects = [
    ...node.receive(first, 0, peer.peerId),
    ...node.did(node.registry.arrived(peer.peerId, [first]), 0),
    ...node.did(node.registry.restored(decodeSnapshot(concatBytes(stored)), 0), 0),
    ...node.workOff(0),
  ];
  deepEqual(effects, []);
  deepEqual([node.registry.root, node.registry.version], [root, version]);
  deepEqual(claimAt(node, node.peerId), claimOf());
});

Deno.test("B40: only PeerIds become rows, in one form, and a reader in the middle of changes reads one state", () => {
  const loaded: LoadResult = {
    type: "loaded",
    loaded: { claim: claimOf(), origin: { host: "", uptimeMs: 0 } },
  };
  const node = new RegistryNode({ name: "n", load: () => loaded });
  const names = [`/${identityNamed("x").peerId}`, "verification", "", "localhost"];
  for (const owner of names) {
    const envelope = envelopeNamed("x", { document, owner: owner as PeerId });
    deepEqual(counted(node.receive(encodeEnvelope(envelope))), ["malformed"], owner);
  }
  const owners = Array.from({ length: 300 }, (_, at) => `owner ${at}`);
  const receive = (name: string, fields = {}) =>
    node.receive(encodeEnvelope(envelopeNamed(name, { document, ...fields })));
  for (const name of owners) receive(name);
  ok([...node.registry.entries.keys()].every(isPeerId));
  const parts = encodeSnapshot(node.registry.snapshot(0));
  const read: Uint8Array[] = [];
  for (const part of parts) {
    read.push(part);
    const [gone, fresh] = [owners[read.length], `fresh ${read.length}`];
    receive(gone, { seq: 2, leaseS: 0 });
    receive(fresh);
  }
  ok(read.length > 2);
  equal([...decodeSnapshot(concatBytes(read)).envelopes].length, owners.length);
  let seen = 0;
  for (const owner of node.registry.entries.keys()) {
    if (seen++ === 0) receive("while reading");
    ok(isPeerId(owner));
  }
  equal(seen, node.registry.entries.size);
});

Deno.test("B47: stating and sending leaves what the caller gave as it was", () => {
  const frozen = (value: unknown): void => {
    if (typeof value !== "object" || value === null || value instanceof Uint8Array) return;
    Object.values(value).forEach(frozen);
    Object.freeze(value);
  };
  const node = new RegistryNode({ name: "a" });
  for (const at of [1, 2]) {
    const claim = claimOf({ labels: { z: "1", a: String(at) }, addresses: ["/b", "/a"] });
    const copy = structuredClone(claim);
    frozen(claim);
    equal(published(node.set(claim)).length, 1);
    deepEqual(claim, copy);
    deepEqual(claimAt(node, node.peerId), copy);
  }
  fc.assert(fc.property(anyProbeMessage, (message) => {
    const copy = structuredClone(message);
    frozen(message);
    encodeProbeMessage(message);
    deepEqual(message, copy);
  }));
});

Deno.test("B49: changes of the own record in any order keep its last word, each numbered above the one before", () => {
  const step = fc.oneof(
    fc.tuple(fc.constant("set"), fc.nat(5)),
    fc.tuple(fc.constantFrom("renew", "goodbye of it seen", "former life seen"), fc.nat(5)),
    fc.tuple(fc.constant("own echo"), fc.nat(50)),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 25 }), (steps) => {
      const node = new RegistryNode({ name: "a" });
      node.set(labelled(0));
      let [last, nowMs] = [0, 0];
      for (const [at, [what, number]] of steps.entries()) {
        nowMs += 2 * hourMs;
        const { epoch } = node.registry.entries.get(node.peerId)!;
        if (what === "set") node.set(labelled(last = number), nowMs);
        if (what === "renew") node.tick(nowMs);
        if (what === "goodbye of it seen") node.did(node.registry.epochSeen(epoch, nowMs), nowMs);
        if (what === "former life seen") {
          const run = runNamed(`life ${at}`);
          const former = envelopeNamed("a", { document, epoch: epoch + number, seq: 99, run });
          node.receive(encodeEnvelope(former), nowMs);
        }
        const said = published(node.effects);
        if (what === "own echo") node.receive(said[number % said.length], nowMs);
        deepEqual(claimAt(node, node.peerId), labelled(last));
      }
      const heads = published(node.effects).map(decoded);
      for (const [at, head] of heads.entries()) {
        if (at > 0) ok(compareHeads(head, heads[at - 1]) > 0);
      }
      node.registry.end();
    }),
    { numRuns: 60 },
  );
});

Deno.test("B50: a node's later word wins over its earlier ones on every replica, over restarts and lost state", () => {
  const life = fc.record({ hasState: fc.boolean(), count: fc.integer({ min: 1, max: 4 }) });
  const lives = fc.array(life, { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(lives, fc.infiniteStream(fc.nat(99)), (lives, draws) => {
      const draw = () => draws.next().value as number;
      const replicas = ["p", "q", "r"].map((name) => new RegistryNode({ name }));
      const all: Uint8Array[] = [];
      let [epoch, word, nowMs] = [0, 0, 0];
      for (const [at, { hasState, count }] of lives.entries()) {
        epoch = hasState ? epoch + 1 : 1;
        const node = new RegistryNode({ name: "a", epoch, run: runNamed(`life ${at}`) });
        const said: Uint8Array[] = [];
        for (let more = count; more > 0; more--) {
          said.push(...published(node.set(labelled(++word))));
        }
        all.push(...said);
        // Gossip loses some, repeats old ones, and keeps no order.
        for (const replica of replicas) {
          const heard = [...said, ...all].filter(() => draw() < 50).sort(() => draw() - 50);
          for (const bytes of heard) replica.receive(bytes, nowMs);
        }
        for (let round = 0; round < 3; round++, nowMs += 2 * secondMs) {
          for (const replica of replicas) new SyncLink(node, replica).tick(nowMs);
        }
        for (const replica of replicas) deepEqual(claimAt(replica, node.peerId), labelled(word));
        for (const bytes of all) replicas[0].receive(bytes, nowMs);
        deepEqual(claimAt(replicas[0], node.peerId), labelled(word));
        const effects = node.effects.flatMap((one) => one.type === "storeEpoch" ? [one.epoch] : []);
        epoch = Math.max(epoch, ...effects);
        node.registry.end();
      }
    }),
    { numRuns: 40 },
  );
});

Deno.test("B64: what a node thinks of others never travels in its record, nor is it taken from theirs", () => {
  const [node, peer] = ["a", "b"].map((name) => new RegistryNode({ name }));
  const local = { signed: true, trust: 2, status: "left", lastSeen: 1, evictedBy: "x" };
  const [service] = claimOf().services;
  const claim = { ...claimOf(), ...local, services: [{ ...service, ...local }] } as Claim;
  const [bytes] = published(node.set(claim));
  const written = load<Record<string, unknown>>(decoded(bytes).document!);
  deepEqual(Object.keys(written).sort(), [...Object.keys(claimOf()), "origin"].sort());
  const [offered] = written.services as Record<string, unknown>[];
  deepEqual(Object.keys(offered).sort(), Object.keys(service).sort());
  peer.receive(bytes);
  deepEqual(claimAt(peer, node.peerId), claimOf());
});
