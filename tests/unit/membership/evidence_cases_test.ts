// What the reference got wrong about who is here (weaknesses.md, part B). Each test has the number of the bug.
import { deepEqual, equal, ok } from "node:assert/strict";
import { DepartedDigest } from "../../../lib/membership/departed_digest.ts";
import type { MemberEffect } from "../../../lib/membership/events.ts";
import { peerNumbered } from "../../../lib/sim/peer_names.ts";
import { ackOf, answering, MembershipNode, rumourOf } from "../../support/membership_node.ts";

const stranger = peerNumbered(4_000);

/** A node in a mesh of 4, connected to all others. */
function settled(): MembershipNode {
  const node = new MembershipNode(3);
  node.connect(...node.peers.slice(1));
  node.run(5_000, answering());
  return node;
}

function changesIn(effects: readonly MemberEffect[]) {
  return effects.flatMap((effect) => effect.type === "changed" ? [effect] : []);
}

Deno.test("B23: a worker whose host refuses is gone at once, one whose dial fails for any other reason is not", () => {
  const [refusing, ambiguous] = [settled(), settled()].map((node) => {
    const worker = node.peers[1];
    node.claim(worker, 1, true); // It serves: the reference never evicted such a peer.
    node.apply({ type: "disconnected", peer: worker });
    return { node, worker };
  });
  refusing.node.apply({ type: "dialRefused", peer: refusing.worker });
  equal(refusing.node.membership.statusOf(refusing.worker), "left");
  ambiguous.node.apply({ type: "dialFailed", peer: ambiguous.worker });
  equal(ambiguous.node.statusOf(ambiguous.worker), "suspect/unreachable");
  ambiguous.node.run(8_000, answering(ambiguous.worker));
  equal(ambiguous.node.membership.statusOf(ambiguous.worker), "suspect");
});

Deno.test("B24: only proof of life moves the time at which a peer was heard", () => {
  const node = settled();
  const [, silent, accuser] = node.peers;
  const heardAtMs = () => node.membership.table.find(silent)!.heardAtMs;
  const before = heardAtMs();
  node.run(7_000, answering(silent)); // Probes that nobody answers, and helpers that hear nothing.
  ok(node.sent("ask").some(({ message }) => message.target === silent));
  node.receive(accuser, {
    type: "suspect",
    target: silent,
    incarnation: { epoch: 1, counter: 0 },
    silentMs: 5_000,
  });
  node.gossip(rumourOf("failed", silent, accuser));
  node.apply({ type: "disconnected", peer: silent });
  node.apply({ type: "dialFailed", peer: silent });
  node.run(500, answering(silent));
  node.apply({ type: "dialRefused", peer: silent });
  node.claim(silent);
  equal(heardAtMs(), before);
  node.receive(silent, ackOf(0));
  equal(heardAtMs(), node.nowMs);
});

Deno.test("B25: an old word of or about a peer moves nothing back", () => {
  const node = settled();
  const [, peer, other] = node.peers;
  node.claim(peer, 3);
  const before = { ...node.membership.table.find(peer)! };
  node.nowMs += 100;
  const said = [
    node.claim(peer, 1),
    node.gossip(rumourOf("goodbye", peer)),
    node.gossip(rumourOf("failed", peer, other)),
    node.gossip(rumourOf("alive", peer, peer, { epoch: 2, counter: 9 })),
    node.receive(other, { type: "rumours", rumours: [rumourOf("goodbye", peer)] }),
  ];
  deepEqual(said.flatMap(changesIn), []);
  deepEqual(node.membership.table.find(peer), before);
  node.receive(peer, ackOf(0, { epoch: 1, counter: 0 })); // A late answer of its former life.
  deepEqual(node.membership.table.find(peer)!.incarnation, { epoch: 3, counter: 0 });
});

Deno.test("B26: a peer that was seen once and told nothing of itself is forgotten", () => {
  const node = settled();
  node.connect(stranger);
  node.apply({ type: "disconnected", peer: stranger });
  node.apply({ type: "dialFailed", peer: stranger });
  node.run(9_000, answering());
  ok(node.membership.get(stranger));
  node.run(3_000, answering());
  equal(node.membership.get(stranger), undefined);
});

Deno.test("B31: a peer is here as soon as it is connected, before anything is known of it", () => {
  const node = new MembershipNode(0);
  const effects = node.apply({ type: "connected", peer: stranger });
  equal(node.statusOf(stranger), "alive/connected");
  deepEqual(changesIn(effects).map(({ peer }) => peer), [stranger]);
});

Deno.test("B32: a sign of life counts for who signed it, not for who brought it", () => {
  const node = new MembershipNode(40);
  const isFar = (peer: typeof stranger) => !node.nearest(peer, 6).includes(node.peers[0]);
  const subject = node.peers.slice(1).find(isFar)!;
  const [first, second, third] = node.nearest(subject, 3);
  node.connect(first);
  node.receive(first, ackOf(0));
  for (const watcher of [first, second]) node.gossip(rumourOf("failed", subject, watcher));
  node.gossip(rumourOf("goodbye", third));
  equal(node.membership.statusOf(subject), "left");
  // Its neighbour brings what it has signed itself: that is not the neighbour's own word, nor a third one's.
  const alive = rumourOf("alive", subject, subject, { epoch: 1, counter: 1 });
  const effects = node.receive(first, { ...ackOf(0), rumours: [alive] });
  deepEqual(changesIn(effects).map(({ peer, status }) => [peer, status.status]), [
    [subject, "alive"],
  ]);
  equal(node.statusOf(third), "left/goodbye");
  const forged = rumourOf("alive", third, third, { epoch: 2, counter: 0 });
  node.receive(first, { ...ackOf(0), rumours: [{ ...forged, signature: alive.signature }] });
  equal(node.statusOf(third), "left/goodbye");
});

Deno.test("B38: a peer that we cannot dial and others hear is never called left", () => {
  const node = settled();
  const [, hidden] = node.peers;
  const answer = (effect: MemberEffect) => {
    if (effect.type === "dial") node.apply({ type: "dialFailed", peer: effect.peer });
    else answering()(effect, node);
  };
  node.apply({ type: "disconnected", peer: hidden }).forEach(answer);
  node.run(300_000, answer);
  ok(!changesIn(node.effects).some(({ status }) => status.status === "left"));
  ok(node.membership.get(hidden));
  ok(node.sent("ask").some(({ message }) => message.target === hidden));
});

Deno.test("B41: who has left is remembered while its claim lasts, and its return is not undone", () => {
  const node = settled();
  const [, peer, other] = node.peers;
  node.gossip(rumourOf("goodbye", peer));
  node.apply({ type: "disconnected", peer });
  node.run(3_600_000, answering(peer));
  equal(node.statusOf(peer), "left/goodbye");
  deepEqual(node.membership.seenBy(peer), [peer]);
  node.claim(peer, 2);
  node.connect(peer);
  equal(node.statusOf(peer), "alive/connected");
  node.gossip(rumourOf("goodbye", peer)); // Of the life before, from somebody who was away.
  node.gossip(rumourOf("failed", peer, other));
  node.run(120_000, answering());
  equal(node.statusOf(peer), "alive/connected");
});

Deno.test("B44: every change tells when it happened", () => {
  const node = settled();
  const [, silent, leaver] = node.peers;
  const late = 86_400_000;
  node.nowMs += late;
  const timesOf = (effects: readonly MemberEffect[]) =>
    changesIn(effects).map(({ status, before }) => {
      ok(before.sinceMs <= status.sinceMs && before.sinceMs >= 0);
      equal(status.sinceMs, node.nowMs);
      equal(node.membership.get(leaver)?.sinceMs === 0, false);
    }).length;
  let count = timesOf(node.gossip(rumourOf("goodbye", leaver)));
  node.run(30_000, (effect) => {
    count += timesOf([effect]);
    answering(silent, leaver)(effect, node);
  });
  count += timesOf(node.receive(silent, ackOf(0)));
  ok(count >= 4, `${count} changes`); // Gone; silent, failed and back.
});

Deno.test("B46: what was said of a peer before its claim came is learnt once the claim is there", () => {
  const node = new MembershipNode(1);
  const [, helper] = node.peers;
  node.connect(helper);
  node.receive(helper, ackOf(0));
  const goodbye = rumourOf("goodbye", stranger);
  node.gossip(goodbye);
  deepEqual(node.refused, ["unknown_subject"]);
  node.claim(stranger);
  equal(node.membership.statusOf(stranger), "alive");
  const digest = new DepartedDigest();
  digest.toggle(stranger, goodbye.incarnation);
  const remembers = (effect: MemberEffect) => {
    if (effect.type !== "send" || effect.peer === stranger) return;
    const { peer, message } = effect;
    if (message.type === "probe") {
      node.receive(peer, { ...ackOf(message.seq), departed: digest.root }).forEach(remembers);
    } else if (message.type === "compare") {
      node.receive(peer, { type: "rumours", rumours: [goodbye] }).forEach(remembers);
    } else answering(stranger)(effect, node);
  };
  node.run(20_000, remembers);
  equal(node.statusOf(stranger), "left/goodbye");
});
