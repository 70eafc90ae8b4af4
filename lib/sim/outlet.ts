// How does what a simulated registry wants reach the world?
import type { MemberEvent } from "../membership/events.ts";
import type { GossipMesh } from "./gossip_mesh.ts";
import type { Links } from "./links.ts";
import type { SimNode } from "./sim_node.ts";
import type { RegistryOutlet } from "./sim_registry.ts";
import type { Timeline } from "./timeline.ts";

/** The parts of the world that a registry uses. */
export type OutletPorts = {
  readonly nodes: readonly SimNode[];
  readonly timeline: Timeline;
  readonly links: Links;
  readonly gossip: GossipMesh;
  /** Something happens to a node's membership. */
  readonly apply: (node: SimNode, event: MemberEvent) => void;
};

/** What the registry of a node's present process can do; nothing once that has ended. */
export function outletOf(node: SimNode, ports: OutletPorts): RegistryOutlet {
  const { nodes, timeline, links, gossip, apply } = ports;
  const { run } = node;
  return {
    publish: (item, bytes) => {
      timeline.in(node, 0, () => {
        gossip.spread(node, item, bytes);
      });
    },
    send: (to, message, bytes) => {
      if (node.run !== run) return;
      const other = nodes[to];
      links.send(node, other, bytes, () => {
        other.registry?.received(node.index, message, timeline.nowMs);
      });
    },
    changed: (owner, epoch) => {
      if (node.run !== run) return;
      const { peer, isHead } = nodes[owner];
      // As in a node: heads look for everybody, everybody looks for heads.
      apply(node, {
        type: "claimSeen",
        peer,
        epoch,
        isWanted: node.isHead || isHead,
        isHub: isHead,
      });
    },
    epochRaised: (epoch) => {
      if (node.run !== run) return;
      node.epoch = epoch;
      apply(node, { type: "epochRaised", epoch });
    },
  };
}
