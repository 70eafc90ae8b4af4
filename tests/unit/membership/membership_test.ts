import { deepEqual, equal, ok } from "node:assert/strict";
import { ackOf, answering, MembershipNode, rumourOf } from "../../support/membership_node.ts";

/** A node in a mesh of 4, connected to all others, each of which it watches. */
function settled(): MembershipNode {
  const node = new MembershipNode(3);
  node.connect(...node.peers.slice(1));
  node.run(5_000, answering());
  return node;
}

Deno.test("Membership probes everybody it watches in turn, one a second", () => {
  const node = settled();
  const before = node.sent("probe").length;
  node.run(9_000, answering());
  const probed = node.sent("probe").slice(before);
  equal(probed.length, 9);
  equal(new Set(probed.map(({ peer }) => peer)).size, 3);
});

Deno.test("Membership suspects a silent peer within two seconds and asks others first", () => {
  const node = settled();
  const [, silent] = node.peers;
  const atMs = node.nowMs;
  while (node.membership.statusOf(silent) === "alive") node.run(100, answering(silent));
  ok(node.nowMs - atMs <= 4_000 + 1_100, `after ${node.nowMs - atMs} ms`);
  equal(node.statusOf(silent), "suspect/silent");
  const asked = node.sent("ask");
  ok(asked.length > 0 && asked.every(({ message }) => message.target === silent));
});

Deno.test("Membership never calls a peer left that was silent for less than eight seconds", () => {
  for (let ms = 5_000; ms <= 8_000; ms += 500) {
    const node = settled();
    const [, silent] = node.peers;
    node.run(ms, answering(silent));
    node.receive(silent, ackOf(0));
    equal(node.statusOf(silent), "alive/connected");
    ok(
      !node.effects.some((effect) => effect.type === "changed" && effect.status.status === "left"),
    );
  }
});

Deno.test("Membership calls a silent peer left within 14 s when another watcher suspects it as well", () => {
  const node = settled();
  const [, silent, other] = node.peers;
  const atMs = node.nowMs;
  let suspectedAtMs = Infinity;
  while (node.membership.statusOf(silent) !== "left" && node.nowMs - atMs < 20_000) {
    node.run(100, answering(silent));
    if (node.membership.statusOf(silent) !== "suspect") continue;
    suspectedAtMs = Math.min(suspectedAtMs, node.nowMs);
    const silentMs = node.nowMs - suspectedAtMs + 1_000;
    node.receive(other, {
      type: "suspect",
      target: silent,
      incarnation: { epoch: 1, counter: 0 },
      silentMs,
    });
  }
  ok(node.nowMs - atMs >= 8_600 && node.nowMs - atMs <= 14_000, `after ${node.nowMs - atMs} ms`);
  equal(node.statusOf(silent), "left/failed");
  deepEqual(node.published.map(({ kind, subject }) => [kind, subject]), [["failed", silent]]);
});

Deno.test("Membership waits longer when nobody else suspects a peer", () => {
  const node = settled();
  const [, silent] = node.peers;
  node.run(12_500, answering(silent));
  equal(node.statusOf(silent), "suspect/silent");
  node.run(7_000, answering(silent));
  equal(node.statusOf(silent), "left/failed");
});

Deno.test("Membership suspects nobody for what it missed while it was frozen itself", () => {
  const node = settled();
  const [, silent] = node.peers;
  node.run(3_000, answering(silent));
  node.nowMs += 60_000; // Frozen: nothing was sent, nothing was read.
  node.apply({ type: "ticked" });
  equal(node.effects.filter(({ type }) => type === "changed").length <= 4, true);
  node.run(8_000, answering(silent));
  ok(node.membership.statusOf(silent) !== "left");
});

Deno.test("Membership takes any byte of a peer for a sign of life", () => {
  const node = settled();
  const [, quiet] = node.peers;
  for (let second = 0; second < 30; second++) {
    node.run(400, answering(quiet));
    node.apply({ type: "heard", peer: quiet });
  }
  equal(node.statusOf(quiet), "alive/connected");
});

Deno.test("Membership dials once when the last connection of a peer closes", () => {
  const node = settled();
  const [, peer] = node.peers;
  const effects = node.apply({ type: "disconnected", peer });
  equal(node.statusOf(peer), "suspect/disconnected");
  deepEqual(effects.filter(({ type }) => type === "dial"), [{ type: "dial", peer }]);
});

Deno.test("Membership calls a peer left for itself when its host refuses, and tells others once nobody hears it", () => {
  const node = settled();
  const [, peer, ...others] = node.peers;
  node.apply({ type: "disconnected", peer });
  node.apply({ type: "dialRefused", peer });
  equal(node.statusOf(peer), "left/refused");
  equal(node.published.length, 0);
  const { seq } = node.sent("ask").at(-1)!.message;
  for (const helper of others) node.receive(helper, { type: "answer", seq });
  deepEqual(node.published.map(({ kind, subject }) => [kind, subject]), [["failed", peer]]);
});

Deno.test("Membership keeps to a peer that refuses it when others hear it", () => {
  const node = settled();
  const [, peer, helper] = node.peers;
  node.apply({ type: "disconnected", peer });
  node.apply({ type: "dialRefused", peer });
  const { seq } = node.sent("ask").at(-1)!.message;
  node.receive(helper, { type: "answer", seq, incarnation: { epoch: 1, counter: 0 } });
  equal(node.statusOf(peer), "suspect/unreachable");
  equal(node.published.length, 0);
});

Deno.test("Membership refutes with a higher incarnation when it hears that it is suspected", () => {
  const node = settled();
  const [self, accuser] = node.peers;
  node.gossip(rumourOf("failed", self, accuser));
  deepEqual(node.membership.incarnation, { epoch: 1, counter: 1 });
  deepEqual(node.published.map(({ kind, incarnation }) => [kind, incarnation]), [["alive", {
    epoch: 1,
    counter: 1,
  }]]);
  node.gossip(rumourOf("failed", self, node.peers[2]));
  equal(node.published.length, 1, "an accusation that was outbid needs no answer");
});

Deno.test("Membership takes a later epoch when others hold a goodbye of this one", () => {
  const node = settled();
  const [, peer] = node.peers;
  const probe = {
    ...ackOf(7),
    type: "probe" as const,
    accused: { epoch: 4, counter: 2 ** 32 - 1 },
  };
  const effects = node.receive(peer, probe);
  ok(effects.some((effect) => effect.type === "outbid" && effect.epoch === 5));
  deepEqual(node.membership.incarnation, { epoch: 5, counter: 0 });
});

Deno.test("B29: Membership says goodbye to everybody it is connected to, and nothing refutes it", () => {
  const node = settled();
  const [self, accuser] = node.peers;
  const effects = node.apply({ type: "leaving", reason: "drained" });
  equal(effects.filter(({ type }) => type === "send").length, 3);
  equal(node.published.at(-1)?.kind, "drained");
  node.gossip(rumourOf("failed", self, accuser));
  equal(node.published.length, 1);
});

Deno.test("Membership lets a peer go at once that says goodbye, and takes it back in its next life only", () => {
  const node = settled();
  const [, peer] = node.peers;
  node.gossip(rumourOf("goodbye", peer));
  equal(node.statusOf(peer), "left/goodbye");
  node.apply({ type: "heard", peer });
  equal(node.statusOf(peer), "left/goodbye", "it finishes what it had begun");
  node.claim(peer, 2);
  equal(node.statusOf(peer), "alive/connected");
  node.gossip(rumourOf("goodbye", peer));
  equal(node.statusOf(peer), "alive/connected", "an old goodbye is no news");
});

Deno.test("B35: Membership knows nothing of claims alone until it has heard from anybody who has left", () => {
  const node = new MembershipNode(8);
  equal(node.statusOf(node.peers[5]), "suspect/claimed");
  node.connect(node.peers[1]);
  node.receive(node.peers[1], ackOf(0));
  equal(node.statusOf(node.peers[5]), "alive/watched");
});

Deno.test("B42: Membership forgets a peer whose claim ends", () => {
  const node = settled();
  const [, peer] = node.peers;
  node.gossip(rumourOf("goodbye", peer));
  node.apply({ type: "disconnected", peer });
  node.apply({ type: "claimGone", peer });
  equal(node.statusOf(peer), "unknown");
  equal(node.membership.departedRoot, 0);
});

Deno.test("Membership lets heads probe workers with exchanges besides", () => {
  const node = new MembershipNode(60, { isHead: true });
  const worker = node.peers.slice(1).find((peer) => !node.membership.watched.includes(peer))!;
  node.connect(worker);
  node.apply({ type: "exchanged", peer: worker });
  node.run(5_000, answering());
  const count = node.sent("probe").filter(({ peer }) => peer === worker).length;
  ok(count >= 4, `${count} probes`);
  node.run(60_000, answering());
  const later = node.sent("probe").filter(({ peer }) => peer === worker).length;
  ok(later <= 12, `${later} probes, none after ten seconds without exchanges`);
});
