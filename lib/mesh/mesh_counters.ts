// What does the mesh count?
import { Counters } from "./counters.ts";

const names = [
  /** Connections that showed the right tag. */
  "admitted",
  /** Connections closed as they showed a wrong tag. */
  "refused_wrong_secret",
  /** Connections closed as they showed no tag in time. */
  "refused_no_tag",
  /** Connections closed as the other side speaks for another network. */
  "refused_other_network",
  /** Connections on which the other side refused us. */
  "refused_by_peer",
  /** Connections to or from peers on the deny list. */
  "refused_denied",
  /** Streams of our protocols on connections that were not admitted. */
  "streams_refused",
  "gossip_accepted",
  "gossip_ignored",
  "gossip_rejected",
  "dials",
  "dials_failed",
] as const;

export type MeshCounterName = (typeof names)[number];
export type MeshCounters = Counters<MeshCounterName>;

/** All at zero. */
export function meshCounters(): MeshCounters {
  return new Counters(names);
}
