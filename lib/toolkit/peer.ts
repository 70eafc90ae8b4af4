// What does a program see of one peer?
import type { PeerId } from "../base/peer_id.ts";
import type { MeshTable, TableEntry } from "../gateway/ports.ts";
import type { Status, StatusReason } from "../membership/status.ts";
import type { Claim } from "../registry/claim.ts";

/**
 * One peer as this node sees it now: what it says of itself, and whether it is here. Never changed in place.
 *
 * @example Who offers what?
 * ```ts
 * import { deepEqual } from "node:assert/strict";
 * import { type Peer, startNode } from "@otela/otela";
 *
 * const servicesOf = ({ claim }: Peer) => claim.services.map(({ name }) => name);
 * const echo = { name: "echo", handler: () => new Response("hi") };
 * await using node = await startNode({ services: [echo] });
 * for await (const { peer } of node.watch()) {
 *   if (servicesOf(peer).length > 0) break;
 * }
 * deepEqual(node.peers().map(servicesOf), [["echo"]]);
 * ```
 */
export type Peer = {
  readonly id: PeerId;
  /** Whether it is this node. */
  readonly isSelf: boolean;
  /** `alive`: use it; `suspect`: use it last; `left`: do not use it. */
  readonly status: Status;
  readonly reason: StatusReason;
  /** How this node is connected to it; `none` for itself. */
  readonly connection: "direct" | "relayed" | "none";
  /** What it says of itself: signed by it, proven by nobody. */
  readonly claim: Claim;
};

const connections = { connected: "direct", limited: "relayed", not_connected: "none" } as const;

/** Everybody whose claim this node holds, itself included, in the order of ids. */
export function peersOf({ self, entries }: MeshTable): readonly Peer[] {
  return entries.map((entry) => peerOf(entry, self));
}

/** @param self This node. */
export function peerOf({ peer, claim, status, connectedness }: TableEntry, self: PeerId): Peer {
  return Object.freeze({
    id: peer,
    isSelf: peer === self,
    status: status.status,
    reason: status.reason,
    connection: connections[connectedness],
    claim,
  });
}

/** Whether two pictures of one peer say the same. */
export function isSamePeer(a: Peer, b: Peer): boolean {
  return a.claim === b.claim && a.status === b.status && a.reason === b.reason &&
    a.connection === b.connection;
}
