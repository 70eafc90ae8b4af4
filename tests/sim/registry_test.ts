import { deepEqual, equal, ok } from "node:assert/strict";
import { startAutomerge } from "../../lib/registry/automerge.ts";
import { disagreement } from "../../lib/sim/agreement.ts";
import { parseFaults } from "../../lib/sim/faults.ts";
import { modelRegistries, realRegistries } from "../../lib/sim/registries.ts";
import { simulate } from "../../lib/sim/simulate.ts";
import type { World } from "../../lib/sim/world.ts";
import { seededRandom } from "../../lib/sim/seeded_random.ts";
import { calmWorld } from "../support/sim_worlds.ts";

await startAutomerge();

const nodeCount = 12;

/** The same accidents for any kind of registry, from one seed. */
function live(world: World, seed: number, mayLoseState: boolean): void {
  const random = seededRandom(seed);
  const pick = () => world.nodes[1 + Math.floor(random() * (nodeCount - 1))];
  for (let step = 0; step < 12; step++) {
    const node = pick();
    const choice = random();
    if (choice < 0.4) node.registry?.change(world.nowMs);
    else if (choice < 0.6) world.kill(node);
    else world.start(node, choice < 0.8 || !mayLoseState);
    world.runForMs(3_000);
  }
  for (const node of world.nodes) world.start(node, true);
  world.runForMs(30_000);
}

/** What everybody holds in the end; epochs only when they do not hang on the order of two hashes. */
function tablesAfter(seed: number, mayLoseState: boolean): string[][] {
  return [modelRegistries(nodeCount), realRegistries(nodeCount, seed)].map((makeRegistry) => {
    const world = calmWorld(nodeCount, seed, { makeRegistry });
    live(world, seed, mayLoseState);
    equal(disagreement(world), undefined, `seed ${seed}`);
    const table = world.nodes[0].registry!.table();
    for (const { registry } of world.nodes) deepEqual(registry!.table(), table);
    return mayLoseState ? table.map((row) => row.split(" ")[0]) : table;
  });
}

Deno.test("ModelRegistry holds the same owners, epochs and seqs as the real registry after the same accidents", () => {
  for (let seed = 1; seed <= 8; seed++) {
    const [model, real] = tablesAfter(seed, false);
    deepEqual(model, real, `seed ${seed}`);
  }
});

Deno.test("ModelRegistry holds the same owners as the real registry when nodes lose their state", () => {
  for (let seed = 11; seed <= 16; seed++) {
    const [model, real] = tablesAfter(seed, true);
    deepEqual(model, real, `seed ${seed}`);
  }
});

Deno.test("simulate keeps every promise with real registries", () => {
  for (
    const [seed, faults] of [[1, "churn=1,loss"], [2, "partition,dup"], [
      3,
      "leave,pause,skew",
    ]] as const
  ) {
    const result = simulate({
      nodeCount: 30,
      seed,
      faults: parseFaults(faults),
      actMs: 30_000,
      makeRegistry: realRegistries(30, seed),
    });
    deepEqual(result.violations, []);
  }
});

Deno.test("C041: a killed node never comes back by merges of a split mesh", () => {
  const world = calmWorld(9, 4, { makeRegistry: realRegistries(9, 4) });
  const dead = world.nodes[5];
  world.kill(dead);
  world.runForMs(2_000);
  for (let round = 0; round < 20; round++) {
    world.network.split([1, 2, 3, 4], world.nowMs);
    world.runForMs(3_000);
    world.network.heal(world.nowMs);
    for (let step = 0; step < 10; step++) {
      world.runForMs(200);
      for (const { membership } of world.nodes) ok(membership?.statusOf(dead.peer) !== "alive");
    }
  }
});
