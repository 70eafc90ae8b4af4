import { deepEqual, equal, notEqual, ok } from "node:assert/strict";
import fc from "fast-check";
import { hourMs, minuteMs } from "../../../lib/base/units.ts";
import { startAutomerge } from "../../../lib/registry/automerge.ts";
import { encodeEnvelope } from "../../../lib/registry/envelope.ts";
import type { LoadResult } from "../../../lib/registry/peer_claims.ts";
import { envelopeNamed, identityNamed, openPorts } from "../../support/registry_keys.ts";
import { claimOf, counted, published, RegistryNode } from "../../support/registry_node.ts";

await startAutomerge();

const leaseMs = 3 * hourMs;

/** A loader for tests that are not about documents: every document is one small claim. */
const loaded: LoadResult = {
  type: "loaded",
  loaded: { claim: claimOf(), origin: { host: "", uptimeMs: 0 } },
};
const loadsNothing = { load: (): LoadResult => loaded };
const document = Uint8Array.of(1, 2, 3);

function bytesOf(
  name: string,
  fields: { epoch?: number; seq?: number; leaseS?: number } = {},
): Uint8Array {
  return encodeEnvelope(envelopeNamed(name, { document, ...fields }));
}

Deno.test("B39: a registry shows its own claim at once, and others show it when its envelope arrives", () => {
  const a = new RegistryNode({ name: "a" });
  const b = new RegistryNode({ name: "b" });
  const effects = a.set(claimOf());
  deepEqual(effects.map((effect) => effect.type), ["publish", "announceChanged"]);
  deepEqual(a.registry.entries.get(a.peerId)?.claim, claimOf());
  const [envelope] = published(effects);
  deepEqual(b.receive(envelope), [{ type: "announceChanged", owner: a.peerId }]);
  deepEqual(b.registry.entries.get(a.peerId)?.claim, claimOf());
  equal(a.registry.root, b.registry.root);
  deepEqual(counted(b.receive(envelope)), ["stale"]);
});

Deno.test("Registry: refuses, counts and changes nothing else", () => {
  const node = new RegistryNode({
    name: "a",
    overrides: {
      ports: {
        ...openPorts,
        isAdmitted: (_owner, admit) => admit.byteLength === 0,
        isDenied: (owner) => owner === identityNamed("denied").peerId,
      },
    },
  });
  const good = envelopeNamed("b", { document });
  const rows: [string, string, Uint8Array][] = [
    ["malformed", "reject", Uint8Array.of(1)],
    ["too_large", "reject", new Uint8Array(30_000)],
    ["wrong_network", "reject", encodeEnvelope(envelopeNamed("b", { document, network: "x" }))],
    ["not_admitted", "reject", encodeEnvelope(envelopeNamed("b", { document, admit: document }))],
    ["denied", "ignore", bytesOf("denied")],
    ["expired", "ignore", encodeEnvelope({ ...good, remainingS: 0 })],
    ["wrong_document", "reject", encodeEnvelope({ ...good, document: Uint8Array.of(9) })],
    ["bad_signature", "reject", encodeEnvelope({ ...good, signature: new Uint8Array(64) })],
    ["no_document", "accept", encodeEnvelope({ ...good, document: null })],
  ];
  const { root, version } = node.registry;
  for (const [reason, verdict, bytes] of rows) {
    const receipt = node.registry.envelopeReceived(identityNamed("from").peerId, bytes, 0);
    deepEqual([receipt.verdict, receipt.effects], [verdict, [{ type: "count", reason }]], reason);
  }
  deepEqual(counted(node.receive(encodeEnvelope(good))), ["bad_claim"]);
  deepEqual(counted(node.receive(encodeEnvelope(good))), ["refused_before"]);
  deepEqual([node.registry.root, node.registry.version], [root, version]);
});

Deno.test("B36: nothing from outside changes this node's own claim", () => {
  const node = new RegistryNode({ name: "a" });
  node.set(claimOf());
  const owner = node.peerId;
  const forged = envelopeNamed("mallory", {
    document,
    owner,
    epoch: 99,
    publicKey: identityNamed("a").publicKeyProtobuf,
  });
  deepEqual(counted(node.receive(encodeEnvelope(forged))), ["bad_signature"]);
  // Even our own key in other hands only makes us say the same again, louder.
  node.receive(encodeEnvelope(envelopeNamed("a", { document, epoch: 50 })));
  deepEqual(node.registry.entries.get(owner)?.claim, claimOf());
  equal(node.registry.entries.get(owner)?.epoch, 51);
});

Deno.test("B50: every order of arrival, with repetitions, leads to the same table", () => {
  const pool = ["x", "y", "z"].flatMap((name) => [
    bytesOf(name, { epoch: 1, seq: 1 }),
    bytesOf(name, { epoch: 1, seq: 2 }),
    encodeEnvelope(envelopeNamed(name, { document: Uint8Array.of(7), epoch: 1, seq: 2 })),
    bytesOf(name, { epoch: 2, seq: 1 }),
    bytesOf(name, { epoch: 2, seq: 3, leaseS: 0 }), // A withdrawal.
  ]);
  const some = fc.uniqueArray(fc.nat(pool.length - 1), { minLength: 1 });
  fc.assert(
    fc.property(some, fc.infiniteStream(fc.nat(1_000)), (chosen, draws) => {
      const tables = [0, 1].map(() => {
        const node = new RegistryNode({ name: "n", ...loadsNothing });
        const order = [...chosen, ...chosen.slice(0, 3)]
          .map((at) => ({ at, draw: draws.next().value as number }))
          .sort((a, b) => a.draw - b.draw);
        for (const { at } of order) node.receive(pool[at]);
        return { table: node.table, root: node.registry.root };
      });
      deepEqual(tables[0], tables[1]);
    }),
    { numRuns: 60 },
  );
});

Deno.test("Registry: a lease ends on the receiver's own clock, whatever the clocks are", () => {
  for (const startMs of [0, 5 * 365 * 24 * hourMs]) {
    const node = new RegistryNode({ name: "n", ...loadsNothing });
    node.receive(bytesOf("x"), startMs);
    const owner = identityNamed("x").peerId;
    deepEqual(node.tick(startMs + leaseMs - 1), []);
    deepEqual(node.tick(startMs + leaseMs), [{
      type: "announceRemoved",
      owner,
      reason: "expired",
    }]);
    deepEqual(counted(node.receive(bytesOf("x"), startMs + leaseMs)), ["floored"]);
    deepEqual(counted(node.receive(bytesOf("x", { seq: 2 }), startMs + leaseMs)), []);
  }
});

Deno.test("Registry: a floor is forgotten after 24 h", () => {
  const node = new RegistryNode({ name: "n", ...loadsNothing });
  node.receive(bytesOf("x"), 0);
  node.tick(leaseMs);
  node.tick(leaseMs + 24 * hourMs - 1);
  deepEqual(counted(node.receive(bytesOf("x"), leaseMs + 24 * hourMs - 1)), ["floored"]);
  node.tick(leaseMs + 24 * hourMs);
  deepEqual(counted(node.receive(bytesOf("x"), leaseMs + 24 * hourMs)), []);
});

Deno.test("Registry: a sender that knows less lease shortens it, one that knows better corrects that", () => {
  const node = new RegistryNode({ name: "n", ...loadsNothing });
  const envelope = envelopeNamed("x", { document });
  const entry = () => node.registry.entries.get(envelope.owner)!;
  node.receive(encodeEnvelope({ ...envelope, remainingS: 5 }), 0);
  equal(entry().expiresAtMs, 5_000);
  node.receive(encodeEnvelope({ ...envelope, remainingS: 100 }), 1_000);
  equal(entry().expiresAtMs, 101_000);
  node.receive(encodeEnvelope({ ...envelope, remainingS: 50 }), 1_000);
  equal(entry().expiresAtMs, 101_000);
  node.receive(encodeEnvelope(envelope), 2_000);
  equal(entry().expiresAtMs, leaseMs, "never beyond a lease from first receipt");
});

Deno.test("Registry: a renewal keeps the claim, moves the lease and needs no loader", () => {
  let loads = 0;
  const node = new RegistryNode({ name: "n", load: () => (loads++, loaded) });
  const first = envelopeNamed("x", { document });
  node.receive(encodeEnvelope(first), 0);
  const { claim } = node.registry.entries.get(first.owner)!;
  const { root, version } = node.registry;
  const renewal = envelopeNamed("x", { document, seq: 2 });
  deepEqual(node.receive(encodeEnvelope({ ...renewal, document: null }), hourMs), []);
  const renewed = node.registry.entries.get(first.owner)!;
  equal(renewed.claim, claim);
  equal(renewed.expiresAtMs, hourMs + leaseMs);
  equal(loads, 1);
  equal(node.registry.version, version, "views need not be made anew");
  notEqual(node.registry.root, root);
  // Whoever asks gets document and renewal together.
  const other = new RegistryNode({ name: "o", ...loadsNothing });
  other.receive(node.registry.envelopeOf(first.owner, hourMs)!, hourMs);
  equal(other.registry.root, node.registry.root);
});

Deno.test("Registry: an owner that is behind is shown its higher state, at most once a second", () => {
  const node = new RegistryNode({ name: "n", ...loadsNothing });
  const owner = identityNamed("x").peerId;
  node.receive(bytesOf("x", { epoch: 9 }));
  const behind = bytesOf("x", { epoch: 1 });
  const replies = (nowMs: number) =>
    node.receive(behind, nowMs, owner).filter(({ type }) => type === "reply").length;
  deepEqual(node.receive(behind, 0).map(({ type }) => type), ["count"], "not to a stranger");
  deepEqual([replies(0), replies(999), replies(1_000)], [1, 0, 1]);
});

Deno.test("Registry: an owner at or below its floor is shown the floor and speaks up again", () => {
  const node = new RegistryNode({ name: "n" });
  const owner = new RegistryNode({ name: "x" });
  const [bytes] = published(owner.set(claimOf()));
  node.receive(bytes, 0);
  node.tick(leaseMs); // The owner was cut off for three hours.
  const reply = node.receive(bytes, leaseMs, owner.peerId).find(({ type }) => type === "reply");
  ok(reply?.type === "reply");
  const again = published(owner.receive(reply.envelope, leaseMs));
  equal(again.length, 1);
  node.receive(again[0], leaseMs);
  equal(node.registry.root, owner.registry.root);
});

Deno.test("Registry: an open mesh takes 50 new owners a minute from one connection, after the first minute", () => {
  const overrides = { newOwnersPerMinuteMax: 50 };
  const node = new RegistryNode({ name: "n", ...loadsNothing, overrides });
  for (let at = 0; at < 100; at++) node.receive(bytesOf(`join ${at}`), 0);
  equal(node.registry.entries.size, 100, "a join has no budget");
  const nowMs = 2 * minuteMs;
  const reasons = Array.from(
    { length: 60 },
    (_, at) => counted(node.receive(bytesOf(`flood ${at}`), nowMs)),
  );
  equal(reasons.filter(([reason]) => reason === "too_many_owners").length, 10);
  equal(node.registry.entries.size, 150);
  // Who speaks for itself, who is known and who comes over another connection is not concerned.
  const self = identityNamed("self").peerId;
  deepEqual(counted(node.receive(bytesOf("self"), nowMs, self)), []);
  deepEqual(counted(node.receive(bytesOf("join 1", { seq: 2 }), nowMs)), []);
  deepEqual(counted(node.receive(bytesOf("other"), nowMs, identityNamed("other way").peerId)), []);
  deepEqual(counted(node.receive(bytesOf("next minute"), nowMs + minuteMs)), []);
});

Deno.test("Registry: a full table keeps members with a connection and gives them room", () => {
  const node = new RegistryNode({ name: "n", ...loadsNothing, overrides: { claimsMax: 5 } });
  const [old, fresh] = ["old", "fresh"].map((name) => identityNamed(name).peerId);
  node.registry.connectionOpened(old);
  node.receive(bytesOf("old"), 0);
  for (let at = 0; at < 10; at++) node.receive(bytesOf(`flood ${at}`), 1 + at);
  equal(node.registry.entries.size, 5);
  deepEqual(counted(node.receive(bytesOf("fresh"), 20)), ["table_full"]);
  node.registry.connectionOpened(fresh);
  deepEqual(node.receive(bytesOf("fresh"), 20), [
    { type: "announceRemoved", owner: identityNamed("flood 3").peerId, reason: "displaced" },
    { type: "announceChanged", owner: fresh },
  ]);
  ok(node.registry.entries.has(old) && node.registry.entries.size === 5);
});

Deno.test("Registry: a document that overran is not loaded again within the hour, nor an owner of three such", () => {
  let loads = 0;
  const load = (): LoadResult => (loads++, { type: "refused", reason: "overrun" });
  const node = new RegistryNode({ name: "n", load });
  const hostile = (at: number, seq: number) =>
    encodeEnvelope(envelopeNamed("x", { document: Uint8Array.of(at), seq }));
  deepEqual(counted(node.receive(hostile(1, 1))), ["overrun"]);
  deepEqual(counted(node.receive(hostile(1, 2))), ["refused_before"], "a new seq does not help");
  deepEqual(counted(node.receive(hostile(2, 3))), ["overrun"]);
  deepEqual(counted(node.receive(hostile(3, 4))), ["overrun"]);
  deepEqual(counted(node.receive(hostile(4, 5))), ["refused_before"]);
  equal(loads, 3);
  node.tick(hourMs);
  deepEqual(counted(node.receive(hostile(4, 6), hourMs)), ["overrun"]);
});

Deno.test("Registry: an envelope that overtakes its loader is the one that counts", () => {
  const node = new RegistryNode({ name: "n" });
  const from = identityNamed("from").peerId;
  const [one, two] = [1, 2].map((at) =>
    envelopeNamed("x", { document: Uint8Array.of(at), seq: at })
  );
  const receive = (bytes: Uint8Array) => node.registry.envelopeReceived(from, bytes, 0).effects;
  equal(receive(encodeEnvelope(one))[0].type, "loadClaim");
  equal(node.registry.backlogCount, 1);
  equal(receive(encodeEnvelope(two))[0].type, "loadClaim");
  deepEqual(node.registry.claimLoaded(one, loaded, 0), [], "too late");
  deepEqual(node.registry.claimLoaded(two, loaded, 0).map(({ type }) => type), ["announceChanged"]);
  equal(node.registry.entries.get(one.owner)?.seq, 2);
  equal(node.registry.backlogCount, 0);
  // A renewal of what is being loaded counts from its own seq.
  const three = envelopeNamed("x", { document: Uint8Array.of(3), seq: 3 });
  const four = envelopeNamed("x", { document: Uint8Array.of(3), seq: 4 });
  receive(encodeEnvelope(three));
  deepEqual(receive(encodeEnvelope({ ...four, document: null })), []);
  node.registry.claimLoaded(three, loaded, 0);
  equal(node.registry.entries.get(one.owner)?.seq, 4);
});

Deno.test("B53: a registry looks at arrivals in slices, in order, and drops what passes its bound", () => {
  const node = new RegistryNode({ name: "n", ...loadsNothing });
  const from = identityNamed("from").peerId;
  const arrivals = Array.from({ length: 40 }, (_, at) => bytesOf(`o${at}`));
  deepEqual(node.registry.arrived(from, arrivals), []);
  equal(node.registry.backlogCount, 40);
  node.did(node.registry.work(0, 16), 0);
  equal(node.registry.entries.size, 16);
  node.workOff(0);
  equal(node.registry.entries.size, 40);
  const flood = new Array(2_000).fill(new Uint8Array(20_000));
  const dropped = node.registry.arrived(from, flood).length;
  ok(dropped > 1_000 && dropped < 1_300, `${dropped}`);
});
