// What the reference got wrong about whole meshes (weaknesses.md, part B). Each test has the number of the bug.
import { deepEqual, equal, ok } from "node:assert/strict";
import { startAutomerge } from "../../lib/registry/automerge.ts";
import { disagreement } from "../../lib/sim/agreement.ts";
import { realRegistries } from "../../lib/sim/registries.ts";
import { calmWorld, opinionsOf, untilAllSay } from "../support/sim_worlds.ts";

await startAutomerge();

for (const seed of [1, 7, 42]) {
  Deno.test(`B23: a worker whose host dies without a word is gone for everybody within 20 s, seed ${seed}`, () => {
    const world = calmWorld(60, seed);
    const victim = world.nodes[30];
    world.kill(victim, true);
    const ms = untilAllSay(world, victim, "left", 20_000);
    ok(ms >= 8_000, `${ms} ms: silence is ambiguous at first`);
  });

  Deno.test(`B27: a head that cannot see what others see of a dead worker believes them, seed ${seed}`, () => {
    const world = calmWorld(40, seed, { headCount: 2 });
    const [, head, ...workers] = world.nodes;
    const victim = workers[20];
    // Of the victim, and of everybody who watches it, this head hears nothing any more.
    const watchers = world.nodes.filter(({ membership }) =>
      membership?.watched.includes(victim.peer)
    );
    for (const other of [victim, ...watchers]) {
      if (other === head) continue;
      world.network.cut(head.index, other.index, world.nowMs);
      world.network.cut(other.index, head.index, world.nowMs);
    }
    world.kill(victim);
    untilAllSay(world, victim, "left", 20_000);
    for (const other of [victim, ...watchers]) {
      if (other === head) continue;
      world.network.mend(head.index, other.index, world.nowMs);
      world.network.mend(other.index, head.index, world.nowMs);
    }
    world.runForMs(20_000);
    deepEqual(opinionsOf(world, victim), ["left"], "and no head brings the ghost back");
    equal(disagreement(world), undefined);
  });
}

Deno.test("B30: whoever is doubted, gone and back for the others, no record gets a new version by it", () => {
  const nodeCount = 12;
  let changeCount = 0;
  const world = calmWorld(nodeCount, 3, {
    makeRegistry: realRegistries(nodeCount, 3),
    onOpinion: () => changeCount++,
  });
  const versions = () => world.nodes.map(({ epoch, registry }) => [epoch, registry!.table()]);
  const before = versions();
  changeCount = 0;
  for (let round = 0; round < 4; round++) {
    const victim = world.nodes[3 + round];
    world.pause(victim, 20_000);
    untilAllSay(world, victim, "left", 16_000);
    world.runForMs(20_000);
    untilAllSay(world, victim, "alive", 10_000);
    world.network.split([1, 2, 8, 9], world.nowMs);
    world.runForMs(30_000);
    world.network.heal(world.nowMs);
    world.runForMs(20_000);
  }
  equal(disagreement(world), undefined);
  ok(changeCount > 100, `${changeCount} changes of mind`);
  deepEqual(versions(), before);
});
