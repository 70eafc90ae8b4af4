// Do all running nodes say the same, and is it true?
import { nameOf } from "./observer.ts";
import type { World } from "./world.ts";

/** @returns The first disagreement in words; `undefined` when there is none. */
export function disagreement(world: World): string | undefined {
  const running = world.nodes.filter(({ isUp }) => isUp);
  const first = running[0];
  if (!first?.membership || !first.registry) return undefined;
  const { root } = first.registry;
  for (const { registry, index } of running) {
    if (registry && registry.root !== root) {
      return `${nameOf(index)} holds other claims than ${nameOf(first.index)}`;
    }
  }
  for (const { membership, index } of running) {
    if (!membership) continue;
    for (const other of world.nodes) {
      if (other.index === index) continue;
      const status = membership.statusOf(other.peer);
      if (status === (other.isUp ? "alive" : "left")) continue;
      const reason = membership.get(other.peer)?.reason;
      const truth = other.isUp ? "runs" : "does not run";
      return `${nameOf(index)} says ${nameOf(other.index)} is ${status}/${reason}, which ${truth}`;
    }
  }
  return undefined;
}
