// What happens to membership, and what does it ask for?
import type { PeerId } from "../base/peer_id.ts";
import type { Random } from "../base/ports.ts";
import type { Ms } from "../base/units.ts";
import type { Incarnation } from "./incarnation.ts";
import type { ProbeMessage } from "./probe_message.ts";
import type { Rumour } from "./rumour.ts";
import type { PeerStatus } from "./status.ts";

/** What happened. */
export type MemberEvent =
  /** Time has passed: see `Membership.nextAtMs`. */
  | { readonly type: "ticked" }
  /** The first connection to a peer was opened, by either side. */
  | { readonly type: "connected"; readonly peer: PeerId }
  /** Its last connection was closed. */
  | { readonly type: "disconnected"; readonly peer: PeerId }
  /** Its host answered that nobody listens. */
  | { readonly type: "dialRefused"; readonly peer: PeerId }
  /** A dial failed in any other way: no answer, no route, no address, wrong key. */
  | { readonly type: "dialFailed"; readonly peer: PeerId }
  /**
   * A claim was accepted. `isWanted`: we want to be connected to it before it is needed, as a head wants workers.
   * `isHub`: a head or relay, to which many are connected.
   */
  | {
    readonly type: "claimSeen";
    readonly peer: PeerId;
    readonly epoch: number;
    readonly isWanted: boolean;
    readonly isHub: boolean;
  }
  /** A claim ended. */
  | { readonly type: "claimGone"; readonly peer: PeerId }
  /** Bytes of another protocol came from a peer. */
  | { readonly type: "heard"; readonly peer: PeerId }
  /** Bytes of a request went to a peer, or bytes of an answer came. */
  | { readonly type: "exchanged"; readonly peer: PeerId }
  /** A peer did not answer in another protocol: it is asked at once. */
  | { readonly type: "doubted"; readonly peer: PeerId }
  /** A probe message came from a peer over its own connection. */
  | { readonly type: "received"; readonly peer: PeerId; readonly message: ProbeMessage }
  /** A rumour came by gossip. */
  | { readonly type: "gossiped"; readonly rumour: Rumour }
  /** This node's claim is of this epoch now. */
  | { readonly type: "epochRaised"; readonly epoch: number }
  /** This node leaves, now. */
  | { readonly type: "leaving"; readonly reason: "goodbye" | "drained" };

/** Why something that came from outside changed nothing: names are labels of `/metrics`. */
export type RumourRefusal =
  | "unknown_subject"
  | "stale"
  | "forged"
  | "no_authority"
  | "too_many";

/** What is asked of the driver, in order. */
export type MemberEffect =
  /**
   * To a peer; dialled first when there is no connection, as watchers of one peer need each other seldom. Losing a
   * message is no fault: probes are there to notice.
   */
  | { readonly type: "send"; readonly peer: PeerId; readonly message: ProbeMessage }
  /** Dial it; must end in `connected`, `dialRefused` or `dialFailed`. The driver may queue dials; it never drops one. */
  | { readonly type: "dial"; readonly peer: PeerId }
  /** Gossip it to the whole network. */
  | { readonly type: "publish"; readonly rumour: Rumour }
  /** A peer is another than before. */
  | {
    readonly type: "changed";
    readonly peer: PeerId;
    readonly status: PeerStatus;
    readonly before: PeerStatus;
  }
  /** Peers of which only a claim is known count as alive from now on. */
  | { readonly type: "synced" }
  /** The registry's root of a peer, for its sync. */
  | { readonly type: "rootSeen"; readonly peer: PeerId; readonly root: string }
  /** Others said that this node has left; it speaks up. */
  | { readonly type: "refuted"; readonly incarnation: Incarnation }
  /** This node must use a later epoch, as somebody holds a goodbye of this one: keep it. */
  | { readonly type: "outbid"; readonly epoch: number }
  /** Add one to the counter of this reason. */
  | { readonly type: "count"; readonly reason: RumourRefusal };

/** Time, chance, and where effects go. */
export type Turn = {
  /** Monotonic, local. */
  readonly nowMs: Ms;
  readonly random: Random;
  readonly effects: MemberEffect[];
};
