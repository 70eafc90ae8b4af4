// Two acts: faults while safety holds, then calm in which everybody comes to agree.
import { deepEqual, equal, ok } from "node:assert/strict";
import { secondMs } from "../../../lib/base/units.ts";
import { startAutomerge } from "../../../lib/registry/automerge.ts";
import type { LoadResult } from "../../../lib/registry/peer_claims.ts";
import { loadClaim } from "../../../lib/registry/load_claim.ts";
import { claimOf, published, RegistryNode, runNamed } from "../../support/registry_node.ts";
import { seededRandom } from "../../../lib/sim/seeded_random.ts";
import { SyncLink } from "../../support/sync_link.ts";

await startAutomerge();
const nodeCount = 10;
const leaseS = 60;
const actMs = 90 * secondMs;

/** Each document is loaded once, as all nodes are in one thread. */
const cache = new Map<string, LoadResult>();
function load(document: Uint8Array): LoadResult {
  const key = document.join();
  const known = cache.get(key);
  if (known) return known;
  const result: LoadResult = { type: "loaded", loaded: loadClaim(document) };
  cache.set(key, result);
  return result;
}

for (const seed of [1, 7, 42]) {
  Deno.test(`Registry: after losses, splits and restarts all tables are equal (seed ${seed})`, () => {
    const random = seededRandom(seed);
    const pick = (count: number) => Math.floor(random() * count);
    const starts = new Array(nodeCount).fill(0);
    const start = (at: number, nowMs: number) =>
      new RegistryNode({
        name: `node ${at}`,
        run: runNamed(`node ${at} start ${++starts[at]}`),
        epoch: 1, // Without its state directory, every time.
        leaseS,
        load,
        random,
        startedAtMs: nowMs,
      });
    const nodes = Array.from({ length: nodeCount }, (_, at) => start(at, 0));
    let lossRate = 0.5;
    const gossip = (from: number, nowMs: number, effects: ReturnType<RegistryNode["set"]>) => {
      for (const bytes of published(effects)) {
        for (const [at, node] of nodes.entries()) {
          if (at === from || random() < lossRate) continue;
          gossip(at, nowMs, node.receive(bytes, nowMs, nodes[from].peerId));
        }
      }
    };
    const say = (at: number, nowMs: number, text: string) =>
      gossip(at, nowMs, nodes[at].set(claimOf({ labels: { text } }), nowMs));
    for (const at of nodes.keys()) say(at, 0, "first");
    let nowMs = 0;
    for (; nowMs < actMs; nowMs += secondMs) {
      const at = pick(nodeCount);
      if (random() < 0.1) nodes[at] = start(at, nowMs);
      say(at, nowMs, `${seed} ${nowMs}`);
      for (const [ticking, node] of nodes.entries()) gossip(ticking, nowMs, node.tick(nowMs));
      const isSplit = Math.floor(nowMs / (20 * secondMs)) % 2 === 1;
      const [a, b] = [pick(nodeCount), pick(nodeCount)];
      if (a === b || (isSplit && a % 2 !== b % 2)) continue;
      new SyncLink(nodes[a], nodes[b], { isLost: () => random() < 0.1 }).settle(nowMs);
      for (const node of nodes) { // Safety: only its owner decides what a claim says.
        const own = node.registry.entries.get(node.peerId);
        ok(!own || own.expiresAtMs === Infinity);
      }
    }
    lossRate = 0;
    for (const at of nodes.keys()) say(at, nowMs, "last");
    const links = nodes.map((node, at) => new SyncLink(node, nodes[(at + 1) % nodeCount]));
    for (let second = 0; second < 10; second++, nowMs += secondMs) {
      for (const link of links) link.tick(nowMs);
    }
    for (const node of nodes) {
      deepEqual(node.table, nodes[0].table);
      equal(node.table.length, nodeCount);
      equal(node.registry.entries.get(nodes[3].peerId)?.claim.labels.text, "last");
      equal(node.effects.some(({ type }) => type === "reportDuplicate"), false);
      node.registry.end();
    }
  });
}
