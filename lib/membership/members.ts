// Who is here now, as far as this node can tell?
import type { PeerId } from "../base/peer_id.ts";
import type { Status } from "./status.ts";
import {
  type Reachability,
  type ReachabilityContext,
  type ReachabilityEffect,
  type ReachabilityEvent,
  stepReachability,
  unknownReachability,
} from "./reachability.ts";

/** Peers kept; twice the claims of an open mesh (protocol §1), as peers without claims connect too. */
export const membersMax = 20_000;

/** What one event did to a peer. */
export type MemberChange = {
  readonly effects: readonly ReachabilityEffect[];
  /** Whether the status is another one now, so that the routing view is to be built anew. */
  readonly isStatusChanged: boolean;
};

/** The reachability of all peers that were heard of. The driver feeds events and forgets peers without lease. */
export class Members {
  readonly #members = new Map<PeerId, Reachability>();

  /** Takes an event of one peer; an unknown peer becomes known by it, except by `ticked`. */
  apply(peer: PeerId, event: ReachabilityEvent, context: ReachabilityContext): MemberChange {
    const before = this.#members.get(peer);
    if (!before && event.type === "ticked") return { effects: [], isStatusChanged: false };
    if (!before && this.#members.size >= membersMax) this.#evict();
    const start = before ?? unknownReachability(context.nowMs);
    const { state, effects } = stepReachability(start, event, context);
    this.#members.set(peer, state);
    return { effects, isStatusChanged: state.status !== before?.status };
  }

  /** For routing: a peer never heard of is `suspect`. */
  statusOf(peer: PeerId): Status {
    return this.#members.get(peer)?.status ?? "suspect";
  }

  /** Status, reason and since when; `undefined` for a peer never heard of. */
  get(peer: PeerId): Reachability | undefined {
    return this.#members.get(peer);
  }

  /** The lease of the peer has ended and it is not connected. */
  forget(peer: PeerId): void {
    this.#members.delete(peer);
  }

  /** All peers, in the order in which they were first heard of. */
  entries(): IterableIterator<[PeerId, Reachability]> {
    return this.#members.entries();
  }

  /** Peers known. */
  get size(): number {
    return this.#members.size;
  }

  /** Makes room for one: who has left, else who is not connected, else the oldest. */
  #evict(): void {
    let victim: PeerId | undefined;
    for (const [peer, { status }] of this.#members) {
      if (status === "left") {
        victim = peer;
        break;
      }
      if (status === "suspect") victim ??= peer;
    }
    victim ??= this.#members.keys().next().value;
    if (victim !== undefined) this.#members.delete(victim);
  }
}
