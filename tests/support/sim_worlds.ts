// Which simulated worlds do tests look at?
import { modelRegistries } from "../../lib/sim/registries.ts";
import type { SimNode } from "../../lib/sim/sim_node.ts";
import { World, type WorldOptions } from "../../lib/sim/world.ts";

/** A settled world without faults. */
export function calmWorld(
  nodeCount: number,
  seed: number,
  changes: Partial<WorldOptions> = {},
): World {
  const world = new World({
    seed,
    nodeCount,
    headCount: 1,
    network: { latencyMs: { min: 0.5, max: 40 }, lossRate: 0, duplicateRate: 0, reorderRate: 0 },
    clockSkewMs: 0,
    makeRegistry: modelRegistries(nodeCount),
    ...changes,
  });
  world.runForMs(10_000);
  return world;
}

/** What running nodes say of one, each different status once, sorted. */
export function opinionsOf(world: World, of: SimNode): string[] {
  const said = world.nodes.flatMap(({ membership }) =>
    membership && membership.table.self !== of.peer ? [membership.statusOf(of.peer)] : []
  );
  return [...new Set(said)].sort();
}

/** Lets time pass until all running nodes say the same one thing of a node. @returns How long it took. */
export function untilAllSay(world: World, of: SimNode, status: string, withinMs: number): number {
  const startMs = world.nowMs;
  while (opinionsOf(world, of).join() !== status) {
    if (world.nowMs - startMs > withinMs) {
      throw new Error(`After ${withinMs} ms they say ${opinionsOf(world, of)} of ${of.index}`);
    }
    world.runForMs(50);
  }
  return world.nowMs - startMs;
}
