// What do requests and people see of the mesh right now?
import type { PeerId } from "../base/peer_id.ts";
import type { Connectedness, MeshTable, TableEntry } from "../gateway/ports.ts";
import type { Membership } from "../membership/membership.ts";
import type { PeerStatus } from "../membership/status.ts";
import type { ServiceClaim } from "../registry/claim.ts";
import type { Registry } from "../registry/registry.ts";
import { buildRoutingView, type RoutingView } from "../routing/view.ts";

/** What the pictures are made of. */
export type NetworkViewPorts = {
  readonly registry: Registry;
  readonly members: Membership;
  /** This node's own services, as they are now. */
  readonly ownServices: () => readonly ServiceClaim[];
  /** Of the peers that are connected. */
  readonly connectedness: () => ReadonlyMap<PeerId, Connectedness>;
  readonly startedAtMs: number;
};

/** Immutable pictures of registry and membership, made anew when something changed and somebody looks. */
export class NetworkView {
  private view: RoutingView | undefined;
  private tableMade: MeshTable | undefined;
  private readonly listeners = new Set<() => void>();

  constructor(private readonly ports: NetworkViewPorts) {}

  /** Something changed: claims, statuses, connections or own services. */
  changed(): void {
    this.view = undefined;
    this.tableMade = undefined;
    for (const listener of this.listeners) listener();
  }

  /** @returns Ends the subscription. */
  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /** For routing. */
  routing(): RoutingView {
    const { registry, members, ownServices } = this.ports;
    return this.view ??= buildRoutingView({
      entries: [...registry.entries.values()].map(({ owner, claim }) => ({ peer: owner, claim })),
      statusOf: (peer) => members.statusOf(peer),
      self: { peer: registry.self, services: ownServices() },
    });
  }

  /** For people. */
  table(): MeshTable {
    return this.tableMade ??= this.makeTable();
  }

  /** Whether any peer claims a service, also one that has left. */
  wasClaimed(service: string): boolean {
    for (const { claim } of this.ports.registry.entries.values()) {
      if (claim.services.some(({ name }) => name === service)) return true;
    }
    return false;
  }

  private makeTable(): MeshTable {
    const { registry } = this.ports;
    const connectedness = this.ports.connectedness();
    const entries = [...registry.entries.values()].map((row): TableEntry => ({
      peer: row.owner,
      claim: row.claim,
      status: this.statusOf(row.owner),
      seenBy: row.owner === registry.self ? [registry.self] : this.ports.members.seenBy(row.owner),
      connectedness: connectedness.get(row.owner) ?? "not_connected",
      heardAtMs: row.receivedAtMs,
    }));
    return { self: registry.self, entries: entries.sort((a, b) => a.peer < b.peer ? -1 : 1) };
  }

  private statusOf(peer: PeerId): PeerStatus {
    const { registry, members, startedAtMs } = this.ports;
    if (peer === registry.self) {
      return { status: "alive", reason: "connected", sinceMs: startedAtMs };
    }
    return members.get(peer) ?? { status: "suspect", reason: "claimed", sinceMs: startedAtMs };
  }
}
