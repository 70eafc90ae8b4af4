// Is the right node dialled at the right time?
import { deepEqual, equal, ok } from "node:assert/strict";
import type { BootstrapTarget } from "../../../lib/mesh/bootstrap_list.ts";
import { bootstrapPeersWanted, BootstrapPlan, retryMs } from "../../../lib/mesh/bootstrap_plan.ts";
import type { BootstrapSource } from "../../../lib/mesh/bootstrap_source.ts";

const address: BootstrapSource = { kind: "address", address: "/ip4/1.2.3.4/tcp/1" };
const url: BootstrapSource = { kind: "url", url: "http://a.org/" };
const nobody = () => false;
const middle = () => 0.5;

function target(peer: string): BootstrapTarget {
  return { key: peer, peer, addresses: [`/ip4/1.2.3.4/tcp/1/p2p/${peer}`] };
}

function planWith(...peers: string[]): BootstrapPlan {
  const plan = new BootstrapPlan([address], "self", middle);
  deepEqual(plan.next(0, nobody).resolve, [address]);
  plan.resolved(address, peers.map(target));
  return plan;
}

Deno.test("BootstrapPlan dials what is named at once, and each only once at a time", () => {
  const plan = planWith("a", "b");
  deepEqual(plan.next(0, nobody).dial.map(({ key }) => key), ["a", "b"]);
  deepEqual(plan.next(0, nobody), { resolve: [], dial: [], wakeInMs: undefined });
});

Deno.test("B43: BootstrapPlan waits longer after each failure, up to a bound, with jitter", () => {
  const plan = planWith("a");
  let nowMs = 0;
  const waits: number[] = [];
  for (let i = 0; i < 9; i++) {
    equal(plan.next(nowMs, nobody).dial.length, 1);
    plan.dialFailed("a", nowMs);
    const { wakeInMs } = plan.next(nowMs, nobody);
    waits.push(wakeInMs!);
    nowMs += wakeInMs!;
  }
  deepEqual(waits.slice(0, 4), [500, 1_000, 2_000, 4_000]);
  equal(waits.at(-1), retryMs.last);
  const spread = [0, 0.999].map((draw) => {
    const jittered = new BootstrapPlan([address], "self", () => draw);
    jittered.next(0, nobody);
    jittered.resolved(address, [target("a")]);
    jittered.next(0, nobody);
    jittered.dialFailed("a", 0);
    return jittered.next(0, nobody).wakeInMs!;
  });
  ok(spread[0] === 250 && spread[1] > 749, spread.join());
});

Deno.test("BootstrapPlan is content once enough are connected, and dials again when one is lost", () => {
  const peers = Array.from({ length: bootstrapPeersWanted + 3 }, (_, i) => `p${i}`);
  const plan = planWith(...peers);
  for (const { key } of plan.next(0, nobody).dial) plan.dialed(key, key, 0);
  const connected = new Set(peers);
  deepEqual(plan.next(10_000, (peer) => connected.has(peer)).dial, []);
  for (const peer of peers.slice(0, 4)) connected.delete(peer);
  deepEqual(
    plan.next(10_000, (peer) => connected.has(peer)).dial.map(({ key }) => key),
    peers.slice(0, 4),
  );
});

Deno.test("BootstrapPlan does not hammer a node that closes what it accepted", () => {
  const plan = planWith("a");
  plan.next(0, nobody);
  plan.dialed("a", "a", 1_000);
  deepEqual(plan.next(1_001, nobody).dial, []);
  equal(plan.next(1_001, nobody).wakeInMs, 499);
});

Deno.test("BootstrapPlan never dials itself, named or found out", () => {
  const plan = planWith("self", "a");
  deepEqual(plan.next(0, nobody).dial.map(({ key }) => key), ["a"]);
  plan.dialed("a", "self", 0);
  deepEqual(plan.next(1e9, nobody).dial, []);
});

Deno.test("BootstrapPlan asks sources again, later when content, and forgets what they drop", () => {
  const plan = new BootstrapPlan([url], "self", middle);
  plan.next(0, nobody);
  plan.resolved(url, [target("a"), target("b")]);
  equal(plan.next(0, nobody).dial.length, 2);
  plan.dialed("a", "a", 0);
  plan.dialed("b", "b", 0);
  const all = () => true;
  equal(plan.next(0, all).wakeInMs, 300_000);
  equal(plan.next(9_999, nobody).resolve.length, 0);
  equal(plan.next(10_000, nobody).resolve.length, 1);
  plan.resolved(url, [target("b")]);
  deepEqual(plan.next(60_000, nobody).dial.map(({ key }) => key), []);
});

Deno.test("BootstrapPlan knows when everything was tried", () => {
  equal(new BootstrapPlan([], "self", middle).wasAllTried, true);
  const plan = new BootstrapPlan([url, address], "self", middle);
  plan.next(0, nobody);
  equal(plan.wasAllTried, false);
  plan.resolveFailed(url, 0);
  plan.resolved(address, [target("a")]);
  equal(plan.wasAllTried, false);
  plan.next(0, nobody);
  plan.dialFailed("a", 0);
  equal(plan.wasAllTried, true);
});
