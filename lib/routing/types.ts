// Between which peers does routing choose?
import type { PeerId } from "../base/peer_id.ts";
import type { EngineClaim } from "../registry/claim.ts";

/** How well an identity group matched: the better the smaller. */
export type Tier = 0 | 1 | 2;

/** A peer and one of its services that may serve this request. */
export type Candidate = {
  readonly peer: PeerId;
  readonly service: string;
  readonly engine: EngineClaim;
  readonly retry: "safe" | "never";
  readonly capacity: number;
  /** Suspects are asked last, within their tier. */
  readonly isSuspect: boolean;
};
