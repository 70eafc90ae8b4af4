// Which registries do the nodes of a world have?
import type { PeerId } from "../base/peer_id.ts";
import { ModelRegistry } from "./model_registry.ts";
import { peerNumbered } from "./peer_names.ts";
import { RealRegistry } from "./real_registry.ts";
import { seededRandom } from "./seeded_random.ts";
import type { MakeRegistry } from "./world.ts";

/** Registries without documents, for a world of so many. */
export function modelRegistries(nodeCount: number): MakeRegistry {
  const baseline = Array.from({ length: nodeCount }, () => ({ epoch: 1, seq: 1 }));
  return (node, hasState, outlet) =>
    new ModelRegistry(node.index, node.epoch, baseline, hasState, outlet);
}

/** The real registries. Requires that `startAutomerge` has settled. */
export function realRegistries(nodeCount: number, seed: number): MakeRegistry {
  const indexes = new Map(
    Array.from({ length: nodeCount }, (_, index) => [peerNumbered(index), index]),
  );
  const indexOf = (peer: PeerId) => indexes.get(peer) ?? -1;
  const shared = { indexOf, random: seededRandom(seed ^ 0x2545f491), loaded: new Map() };
  const former = new Map<number, RealRegistry>();
  return (node, hasState, outlet, nowMs) => {
    const before = hasState ? former.get(node.index) : undefined;
    const registry = new RealRegistry(node, before, shared, outlet, nowMs);
    former.set(node.index, registry);
    return registry;
  };
}
