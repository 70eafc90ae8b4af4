// What do we know of one peer beyond its claim?
import type { PeerId } from "../base/peer_id.ts";
import type { Ms } from "../base/units.ts";
import type { Incarnation } from "./incarnation.ts";
import type { PeerStatus, Status, StatusReason } from "./status.ts";

/** A peer that answers neither us nor others. */
export type Suspicion = {
  /** When our own first probe without an answer was sent. */
  ownStartMs: Ms;
  /** The same, or a little earlier when another watcher had no answer before. */
  startMs: Ms;
  /** Rounds of direct and indirect probes that failed. */
  failedCount: number;
  /** Other watchers that suspect it as well: since when, and when they last said so. */
  readonly sharedBy: Map<PeerId, { readonly startMs: Ms; readonly atMs: Ms }>;
  /** Others that use it and asked us. */
  readonly askers: Set<PeerId>;
  /** When the next round begins. */
  nextRoundMs: Ms;
  /** When to look whether it has been silent for too long. */
  judgeMs: Ms;
};

/** One peer; changed in place by membership alone. */
export type Member = {
  readonly peer: PeerId;
  status: Status;
  reason: StatusReason;
  sinceMs: Ms;
  /** The latest that it has shown; `undefined` before it has shown any. */
  incarnation: Incarnation | undefined;
  isConnected: boolean;
  isWanted: boolean;
  isHub: boolean;
  /** When anything last came from it, or others heard it for us; `-Infinity`: never. */
  heardAtMs: Ms;
  exchangedAtMs: Ms;
  suspicion: Suspicion | undefined;
  /** Dials that failed since it was last connected. */
  failedDialCount: number;
  /** When to dial again; `null` when nothing is due. */
  redialAtMs: Ms | null;
  /** A dial was asked for and has not ended. */
  isDialing: boolean;
  dialedAtMs: Ms;
  /** When its present incarnation became known. */
  learntAtMs: Ms;
  /** When it was last told that others call it left. */
  toldAtMs: Ms;
  /** Since when its digest of who has left differs from ours. */
  differsSinceMs: Ms | undefined;
};

/** A peer of which nothing has happened yet. */
export function newMember(peer: PeerId, { status, reason, sinceMs }: PeerStatus): Member {
  return {
    peer,
    status,
    reason,
    sinceMs,
    incarnation: undefined,
    isConnected: false,
    isWanted: false,
    isHub: false,
    heardAtMs: -Infinity,
    exchangedAtMs: -Infinity,
    suspicion: undefined,
    failedDialCount: 0,
    redialAtMs: null,
    isDialing: false,
    dialedAtMs: -Infinity,
    learntAtMs: -Infinity,
    toldAtMs: -Infinity,
    differsSinceMs: undefined,
  };
}
