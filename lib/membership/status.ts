// Which words say whether a peer is here?

/** `alive`: use it; `suspect`: use it last; `left`: do not use it. */
export type Status = "alive" | "suspect" | "left";

/** Why a peer has its status. */
export type StatusReason =
  /** alive: we have a connection and hear it. */
  | "connected"
  /** alive: others watch it, and none of them calls it left. */
  | "watched"
  /** suspect: it has a claim, and nobody has told us anything yet. */
  | "claimed"
  /** suspect: its last connection closed. */
  | "disconnected"
  /** suspect: dials of it failed. */
  | "unreachable"
  /** suspect: it answered neither us nor others that asked for us. */
  | "silent"
  /** left, for us: its host says that nobody listens. */
  | "refused"
  /** left: silent for too long, by our own probes or the word of two watchers. */
  | "failed"
  /** left: it said so. */
  | "goodbye"
  /** left: it finished its work and said so. */
  | "drained";

/** What membership says of one peer. */
export type PeerStatus = {
  readonly status: Status;
  readonly reason: StatusReason;
  /** Monotonic, local. */
  readonly sinceMs: number;
};
