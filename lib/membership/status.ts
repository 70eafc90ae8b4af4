// Which words say whether a peer is here?

/** `alive`: use it; `suspect`: use it last; `left`: do not use it. */
export type Status = "alive" | "suspect" | "left";

/** Why a peer has its status. */
export type StatusReason =
  | "connected"
  | "claimed"
  | "disconnected"
  | "refused"
  | "unreachable"
  | "goodbye";

/** What membership says of one peer. */
export type PeerStatus = {
  readonly status: Status;
  readonly reason: StatusReason;
  /** Monotonic, local. */
  readonly sinceMs: number;
};
