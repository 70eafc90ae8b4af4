import { deepEqual, equal, ok } from "node:assert/strict";
import fc from "fast-check";
import { ackOf, answering, MembershipNode, rumourOf } from "../../support/membership_node.ts";
import { membersMax } from "../../../lib/membership/defaults.ts";
import { peerNumbered } from "../../../lib/sim/peer_names.ts";

/** A node, a peer that it is not connected to, and the watchers of that peer. */
function distant() {
  const node = new MembershipNode(40);
  const subject = node.peers.slice(1).find((peer) => {
    return !node.membership.watched.includes(peer) &&
      !node.nearest(peer, 6).includes(node.peers[0]);
  })!;
  const [neighbour] = node.peers.slice(1).filter((peer) => peer !== subject);
  node.connect(neighbour);
  node.receive(neighbour, ackOf(0));
  return { node, subject, watchers: node.nearest(subject, 3) };
}

Deno.test("Membership believes two distinct watchers, not one", () => {
  const { node, subject, watchers } = distant();
  node.gossip(rumourOf("failed", subject, watchers[0]));
  node.gossip(rumourOf("failed", subject, watchers[0]));
  equal(node.statusOf(subject), "alive/watched");
  node.gossip(rumourOf("failed", subject, watchers[1]));
  equal(node.statusOf(subject), "left/failed");
  deepEqual([...node.membership.seenBy(subject)].sort(), watchers.slice(0, 2).sort());
});

Deno.test("B27: Membership drops accusations by peers that do not watch the accused", () => {
  const { node, subject } = distant();
  const far = node.nearest(subject, 39).slice(-2);
  for (const accuser of far) node.gossip(rumourOf("failed", subject, accuser));
  equal(node.statusOf(subject), "alive/watched");
  deepEqual(node.refused, ["no_authority", "no_authority"]);
});

Deno.test("Membership drops forged rumours, of any kind", () => {
  const { node, subject, watchers } = distant();
  for (const kind of ["failed", "goodbye", "alive"] as const) {
    const rumour = rumourOf(kind, subject, kind === "failed" ? watchers[0] : subject);
    node.gossip({ ...rumour, signature: rumour.signature.map((byte) => byte ^ 1) });
    node.gossip({ ...rumour, signature: new Uint8Array(0) });
  }
  equal(node.statusOf(subject), "alive/watched");
  ok(node.refused.every((reason) => reason === "forged"), node.refused.join());
});

Deno.test("Membership drops replayed rumours of an earlier incarnation", () => {
  const { node, subject, watchers } = distant();
  const accusations = watchers.slice(0, 2).map((by) => rumourOf("failed", subject, by));
  accusations.forEach((rumour) => node.gossip(rumour));
  node.gossip(rumourOf("alive", subject, subject, { epoch: 1, counter: 1 }));
  equal(node.statusOf(subject), "alive/watched");
  accusations.forEach((rumour) => node.gossip(rumour));
  node.gossip(rumourOf("alive", subject, subject, { epoch: 1, counter: 0 }));
  equal(node.statusOf(subject), "alive/watched");
  deepEqual(node.refused, ["stale", "stale"], "the third is known and costs nothing");
});

Deno.test("Membership reads five accusations a second of each accuser", () => {
  const node = new MembershipNode(8);
  const [, accuser, ...others] = node.peers;
  for (const subject of others) node.gossip(rumourOf("failed", subject, accuser));
  equal(node.refused.filter((reason) => reason === "too_many").length, others.length - 5);
  node.nowMs += 1_000;
  node.gossip(rumourOf("failed", others.at(-1)!, accuser));
  equal(node.refused.filter((reason) => reason === "too_many").length, others.length - 5);
});

Deno.test("B27: Membership knows nobody without a claim", () => {
  const { node } = distant();
  const stranger = peerNumbered(4_000);
  node.gossip(rumourOf("goodbye", stranger));
  deepEqual(node.refused, ["unknown_subject"]);
  equal(node.membership.get(stranger), undefined);
});

Deno.test("Membership asks a peer that it hears itself before it believes others", () => {
  const { node, subject, watchers } = distant();
  node.connect(subject);
  node.run(1_000, answering());
  for (const accuser of watchers) node.gossip(rumourOf("failed", subject, accuser));
  equal(node.statusOf(subject), "alive/connected");
  const { peer, message } = node.sent("probe").at(-1)!;
  deepEqual([peer, message.accused], [subject, { epoch: 1, counter: 0 }]);
  node.receive(subject, ackOf(message.seq, { epoch: 1, counter: 1 }));
  equal(node.statusOf(subject), "alive/connected");
  equal(node.membership.departedRoot, 0, "it has outbid its accusers");
});

Deno.test("Membership believes two watchers when the accused does not answer it either", () => {
  const { node, subject, watchers } = distant();
  node.connect(subject);
  for (const accuser of watchers) node.gossip(rumourOf("failed", subject, accuser));
  node.run(2_500, answering(subject));
  equal(node.statusOf(subject), "left/failed");
});

Deno.test("Membership keeps all it hears from one that accuses everybody", () => {
  const node = new MembershipNode(200);
  const living = node.peers.slice(1, 30);
  node.connect(...living);
  const accuser = node.peers[50];
  for (let second = 0; second < 20; second++) {
    for (const subject of node.peers.slice(1)) {
      if (subject !== accuser) node.gossip(rumourOf("failed", subject, accuser));
    }
    node.run(1_000, answering());
  }
  equal(node.peers.slice(1).filter((peer) => node.membership.statusOf(peer) === "left").length, 0);
});

Deno.test("Membership stays sane whatever comes in, in any order", () => {
  const number = fc.integer({ min: 0, max: 9 });
  const incarnation = fc.record({
    epoch: fc.integer({ min: 0, max: 3 }),
    counter: fc.integer({ min: 0, max: 3 }),
  });
  const rumour = fc.tuple(
    fc.constantFrom("alive", "failed", "goodbye", "drained"),
    number,
    number,
    incarnation,
  );
  const step = fc.oneof(
    fc.tuple(fc.constant("run"), fc.integer({ min: 0, max: 12_000 })),
    fc.tuple(
      fc.constantFrom(
        "connected",
        "disconnected",
        "dialRefused",
        "dialFailed",
        "claimGone",
        "claim",
      ),
      number,
    ),
    fc.tuple(fc.constant("gossip"), rumour),
    fc.tuple(fc.constant("ack"), number, incarnation),
    fc.tuple(fc.constantFrom("ask", "suspect", "compare", "answer"), number, number),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const node = new MembershipNode(9);
      const at = (index: number) => node.peers[1 + index % 9];
      for (const step of steps) apply(node, at, step as [string, ...unknown[]]);
      node.run(30_000);
      ok(node.membership.nextAtMs > node.nowMs, "it never asks to be woken in the past");
      ok(node.membership.table.size <= 10);
      const isLive = node.membership.statusOf(node.peers[0]);
      ok(["alive", "suspect"].includes(isLive), "it never says of itself that it has left");
    }),
    { numRuns: 300 },
  );
});

function apply(
  node: MembershipNode,
  at: (index: number) => MembershipNode["peers"][number],
  [kind, ...args]: [string, ...unknown[]],
): void {
  const [first, second] = args as [number, number];
  switch (kind) {
    case "run":
      return node.run(first);
    case "claim":
      return void node.claim(at(first), 2);
    case "gossip": {
      const [rumourKind, subject, signer, incarnation] = first as unknown as Parameters<
        typeof Array
      >;
      const isOwn = rumourKind !== "failed";
      const subjectPeer = at(subject as number);
      return void node.gossip(
        rumourOf(
          rumourKind as "alive",
          subjectPeer,
          isOwn ? subjectPeer : at(signer as number),
          incarnation as never,
        ),
      );
    }
    case "ack":
      return void node.receive(at(first), ackOf(1, args[1] as never));
    case "ask":
      return void node.receive(at(first), { type: "ask", seq: 1, target: at(second) });
    case "suspect": {
      const incarnation = { epoch: 1, counter: 0 };
      return void node.receive(at(first), {
        type: "suspect",
        target: at(second),
        incarnation,
        silentMs: 900,
      });
    }
    case "compare":
      return void node.receive(at(first), { type: "compare", buckets: Array(64).fill(second) });
    case "answer":
      return void node.receive(at(first), { type: "answer", seq: second });
    default:
      return void node.apply({ type: kind as "connected", peer: at(first) });
  }
}

Deno.test("Membership of a head asks no more a second of 400 connected peers than of forty", () => {
  const probesOf = (peerCount: number): number => {
    const node = new MembershipNode(peerCount, { isHead: true });
    node.connect(...node.peers.slice(1));
    node.run(5_000, answering());
    const before = node.sent("probe").length;
    node.run(20_000, answering());
    return node.sent("probe").length - before;
  };
  const [few, many] = [probesOf(40), probesOf(400)];
  ok(few >= 20, `${few} probes of 40 peers`);
  ok(many <= few * 1.2, `${many} probes of 400 peers, ${few} of 40`);
});

Deno.test("Membership keeps those that it hears, however many identities one peer makes up", () => {
  const node = new MembershipNode(8);
  const honest = node.peers.slice(1);
  node.connect(...honest);
  node.run(5_000, answering());
  const sybils = Array.from({ length: 10_000 }, (_, at) => peerNumbered(1_000 + at));
  for (const sybil of sybils) node.claim(sybil);
  const answer = answering(...sybils);
  for (const [at, sybil] of sybils.entries()) {
    const rumour = rumourOf("failed", honest[at % honest.length], sybil);
    for (const effect of node.gossip(rumour)) answer(effect, node);
    node.run(1, answer);
  }
  node.run(20_000, answer);
  for (const peer of honest) equal(node.membership.statusOf(peer), "alive");
  ok(node.refused.length >= sybils.length / 2, `${node.refused.length} accusations were refused`);
});

Deno.test("Membership asks nothing more about a member that had to make room", () => {
  const node = new MembershipNode(3);
  const honest = node.peers.slice(1);
  node.connect(...honest);
  node.run(5_000, answering());
  const strangers = Array.from({ length: membersMax + 100 }, (_, at) => peerNumbered(100 + at));
  for (const [at, stranger] of strangers.entries()) {
    node.connect(stranger);
    // The first ones are being asked for when they must go.
    if (at < 50) node.apply({ type: "doubted", peer: stranger });
    node.apply({ type: "disconnected", peer: stranger });
  }
  const evicted = strangers.filter((peer) => node.membership.table.find(peer) === undefined);
  ok(evicted.length >= 100, `${evicted.length} made room`);
  ok([...node.membership.table.values()].length <= membersMax);
  for (const peer of honest) equal(node.membership.statusOf(peer), "alive");
  const gone = new Set(evicted);
  const before = node.effects.length;
  node.run(15_000, answering(...strangers));
  const asked = node.effects.slice(before).filter((effect) =>
    ("peer" in effect && gone.has(effect.peer)) ||
    (effect.type === "send" && effect.message.type === "ask" && gone.has(effect.message.target))
  );
  deepEqual(asked, []);
});
