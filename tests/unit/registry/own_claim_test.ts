import { deepEqual, equal, notEqual, ok } from "node:assert/strict";
import { startAutomerge } from "../../../lib/registry/automerge.ts";
import type { Claim } from "../../../lib/registry/claim.ts";
import type { RegistryEffect } from "../../../lib/registry/effects.ts";
import { decodeEnvelope, type Envelope } from "../../../lib/registry/envelope.ts";
import { claimOf, published, RegistryNode, runNamed } from "../../support/registry_node.ts";
import { seededRandom } from "../../../lib/sim/seeded_random.ts";

await startAutomerge();

function envelopes(effects: readonly RegistryEffect[]): Envelope[] {
  return published(effects).map((bytes) => {
    const envelope = decodeEnvelope(bytes);
    ok(typeof envelope !== "string");
    return envelope;
  });
}

function typesOf(effects: readonly RegistryEffect[]): string[] {
  return effects.map((effect) => effect.type);
}

const labelled = (at: number): Claim => claimOf({ labels: { at: String(at) } });

Deno.test("OwnClaim: publishes on a difference only, one seq further each time", () => {
  const node = new RegistryNode({ name: "a", epoch: 7 });
  const [first] = envelopes(node.set(claimOf()));
  deepEqual([first.epoch, first.seq], [7, 1]);
  deepEqual(node.set(structuredClone(claimOf())), []);
  const [second] = envelopes(node.set(labelled(1)));
  deepEqual([second.epoch, second.seq], [7, 2]);
  notEqual(second.hash, first.hash);
});

Deno.test("OwnClaim: renews every third of the lease, give or take 20 %, without the document", () => {
  const random = seededRandom(3);
  const node = new RegistryNode({ name: "a", leaseS: 300, random });
  const [first] = envelopes(node.set(claimOf()));
  let renewedAtMs = 0;
  for (let nowMs = 0; nowMs < 3_600_000; nowMs += 1_000) {
    for (const renewal of envelopes(node.tick(nowMs))) {
      const sinceMs = nowMs - renewedAtMs;
      ok(sinceMs >= 80_000 && sinceMs <= 121_000, `${sinceMs}`);
      renewedAtMs = nowMs;
      deepEqual([renewal.document, renewal.hash, renewal.epoch], [null, first.hash, 1]);
    }
  }
  ok(renewedAtMs > 3_400_000);
});

Deno.test("OwnClaim: begins a new epoch and document when its history passes 200 changes", () => {
  const node = new RegistryNode({ name: "a" });
  const sizes: number[] = [];
  const stored: number[] = [];
  for (let at = 0; at < 450; at++) {
    const effects = node.set(labelled(at));
    for (const effect of effects) if (effect.type === "storeEpoch") stored.push(effect.epoch);
    sizes.push(envelopes(effects)[0].document!.byteLength);
  }
  deepEqual(stored, [2, 3]);
  ok(Math.max(...sizes) <= 16_384);
  deepEqual(node.registry.entries.get(node.peerId)?.claim, labelled(449));
});

Deno.test("OwnClaim: stores the new epoch before anything of it is published", () => {
  const node = new RegistryNode({ name: "a" });
  for (let at = 0; at <= 200; at++) {
    const types = typesOf(node.set(labelled(at)));
    if (types.includes("storeEpoch")) {
      deepEqual(types, ["storeEpoch", "publish", "announceChanged"]);
      return;
    }
  }
  ok(false, "no new epoch");
});

Deno.test("OwnClaim: begins anew when the bytes run out before the changes do", () => {
  const node = new RegistryNode({ name: "a" });
  const random = seededRandom(5);
  let epoch = 1;
  for (let at = 0; at < 60; at++) {
    const noise = Array.from({ length: 40 }, () => Math.floor(random() * 2 ** 52).toString(36));
    const labels = Object.fromEntries(noise.map((text, key) => [String(key), text]));
    const [envelope] = envelopes(node.set(claimOf({ labels })));
    ok(envelope.document!.byteLength <= 16_384);
    epoch = envelope.epoch;
  }
  ok(epoch > 1 && epoch < 10, `${epoch}`);
});

Deno.test("OwnClaim: a claim out of bounds is reported, and the former one stays published", () => {
  const node = new RegistryNode({ name: "a" });
  node.set(claimOf());
  const random = seededRandom(9);
  const noise = () =>
    Array.from({ length: 30 }, () => Math.floor(random() * 2 ** 52).toString(36)).join("");
  const huge = Object.fromEntries(
    Array.from({ length: 64 }, (_, at) => [`k${at}`, noise().slice(0, 256)]),
  );
  const versions = Object.fromEntries(
    Array.from({ length: 64 }, (_, at) => [`v${at}`, noise().slice(0, 256)]),
  );
  deepEqual(typesOf(node.set(claimOf({ labels: huge, versions }))), ["reportClaimRefused"]);
  deepEqual(typesOf(node.set(claimOf({ wallet: "x".repeat(300) }))), ["reportClaimRefused"]);
  deepEqual(node.registry.entries.get(node.peerId)?.claim, claimOf());
  ok(typesOf(node.set(labelled(1))).includes("publish"));
  deepEqual(node.registry.entries.get(node.peerId)?.claim, labelled(1));
});

Deno.test("OwnClaim: outbids a former life whose epoch it did not know, at once and without alarm", () => {
  const before = new RegistryNode({ name: "a", epoch: 40, run: runNamed("first life") });
  const [old] = published(before.set(claimOf()));
  const node = new RegistryNode({ name: "a", epoch: 1, run: runNamed("second life") });
  node.set(labelled(2));
  const effects = node.receive(old);
  deepEqual(typesOf(effects), ["storeEpoch", "publish"]);
  equal(envelopes(effects)[0].epoch, 41);
  deepEqual(typesOf(node.receive(old)), [], "the same ghost again");
  deepEqual(node.registry.entries.get(node.peerId)?.claim, labelled(2));
});

Deno.test("OwnClaim: an equal state with another document makes it begin a new epoch", () => {
  const twins = [1, 2].map((at) => {
    const twin = new RegistryNode({ name: "a", epoch: 5, run: runNamed(`twin ${at}`) });
    return { twin, bytes: published(twin.set(labelled(at)))[0], hash: "" };
  });
  for (const one of twins) one.hash = one.twin.registry.entries.get(one.twin.peerId)!.hash;
  const [lesser, greater] = twins.sort((a, b) => a.hash < b.hash ? -1 : 1);
  deepEqual(published(greater.twin.receive(lesser.bytes)), []);
  equal(envelopes(lesser.twin.receive(greater.bytes))[0].epoch, 6);
});

/** Lets two nodes hear each other until both are silent. @returns Effects other than publications. */
function fight(a: RegistryNode, b: RegistryNode, first: Uint8Array[], nowMs: number): string[] {
  const said: string[] = [];
  let queue = first.map((bytes) => ({ to: b, bytes }));
  for (let round = 0; queue.length > 0; round++) {
    ok(round < 20, "they do not stop");
    queue = queue.flatMap(({ to, bytes }) => {
      const effects = to.receive(bytes, nowMs + 10 * round);
      for (const { type } of effects) {
        if (type === "reportDuplicate" || type === "yieldIdentity") {
          said.push(`${to === a ? "a" : "b"} ${type}`);
        }
      }
      return published(effects).map((answer) => ({ to: to === a ? b : a, bytes: answer }));
    });
  }
  return said;
}

for (const [elderEpoch, youngerEpoch] of [[1, 9], [9, 1], [5, 5]]) {
  Deno.test(
    `OwnClaim: of two living processes with one key the later gives way (epochs ${elderEpoch}, ${youngerEpoch})`,
    () => {
      const nowMs = 3_600_000; // a has run for an hour, b starts now.
      const a = new RegistryNode({
        name: "k",
        host: "elder",
        run: "aa".repeat(16),
        epoch: elderEpoch,
      });
      const b = new RegistryNode({
        name: "k",
        host: "younger",
        run: "01".repeat(16),
        epoch: youngerEpoch,
        startedAtMs: nowMs,
      });
      const ofA = published(a.set(claimOf(), 0));
      const ofB = published(b.set(labelled(1), nowMs));
      const said = [...fight(b, a, ofB, nowMs), ...fight(a, b, ofA, nowMs)].map((text) => text);
      const reports = [...a.effects, ...b.effects].filter(({ type }) => type === "reportDuplicate");
      deepEqual(reports.length, 2, "each names both hosts once");
      for (const report of reports) {
        ok(report.type === "reportDuplicate");
        deepEqual([report.hosts.ownHost, report.hosts.otherHost].sort(), ["elder", "younger"]);
      }
      equal(b.effects.some(({ type }) => type === "yieldIdentity"), true, said.join(", "));
      equal(a.effects.some(({ type }) => type === "yieldIdentity"), false, said.join(", "));
      ok(a.effects.filter(({ type }) => type === "storeEpoch").length <= 3);
      ok(b.effects.filter(({ type }) => type === "storeEpoch").length <= 3);
      const peer = new RegistryNode({ name: "peer" });
      for (const bytes of published([...a.effects, ...b.effects])) peer.receive(bytes);
      equal(
        peer.registry.entries.get(a.peerId)?.run,
        "aa".repeat(16),
        "the elder has the last word",
      );
    },
  );
}

Deno.test("OwnClaim: processes that started together give way by their runs", () => {
  const a = new RegistryNode({ name: "k", run: "aa".repeat(16) });
  const b = new RegistryNode({ name: "k", run: "bb".repeat(16), epoch: 3 });
  const ofA = published(a.set(claimOf(), 0));
  fight(b, a, published(b.set(claimOf(), 0)), 0);
  fight(a, b, ofA, 0);
  equal(b.effects.some(({ type }) => type === "yieldIdentity"), true);
  equal(a.effects.some(({ type }) => type === "yieldIdentity"), false);
});

Deno.test("OwnClaim: a withdrawn claim is gone everywhere at once and says nothing more", () => {
  const node = new RegistryNode({ name: "a" });
  const peer = new RegistryNode({ name: "b" });
  const [claim] = published(node.set(claimOf()));
  peer.receive(claim);
  const [withdrawal] = published(node.did(node.registry.withdrawn(1_000), 1_000));
  equal(node.registry.entries.size, 0);
  deepEqual(peer.receive(withdrawal, 1_000), [
    { type: "announceRemoved", owner: node.peerId, reason: "withdrawn" },
  ]);
  deepEqual(typesOf(peer.receive(claim, 2_000)), ["count"], "the floor holds");
  deepEqual(node.set(labelled(1)), []);
  deepEqual(node.tick(10_000_000), []);
  deepEqual(node.receive(claim, 3_000), []);
});
