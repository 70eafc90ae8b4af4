// Which peers and claims do the routing tests speak of?
import { parsePeerId, type PeerId } from "../../../lib/base/peer_id.ts";
import type { EngineClaim, ServiceClaim } from "../../../lib/registry/claim.ts";
import { LoadBook } from "../../../lib/routing/load_book.ts";
import { createSelector, type SelectorParts } from "../../../lib/routing/policies/selector.ts";
import type { LbPolicy, Selector } from "../../../lib/routing/policies/types.ts";
import { PrefixIndex } from "../../../lib/routing/prefix_index.ts";
import type { Candidate } from "../../../lib/routing/types.ts";
import type { RoutingEntry } from "../../../lib/routing/view.ts";

const alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

export const engine: EngineClaim = { kind: "vllm", version: "1", continues: true };

/** The n-th peer; PeerIds are in the order of n. */
export function peer(n: number): PeerId {
  const digits = [n / 58 ** 2, n / 58, n].map((digit) => alphabet[Math.floor(digit) % 58]);
  return parsePeerId(`12D3KooW${"A".repeat(41)}${digits.join("")}`);
}

export function service(
  identityGroups: readonly string[],
  change: Partial<ServiceClaim> = {},
): ServiceClaim {
  return {
    name: "llm",
    identityGroups,
    state: "ready",
    engine,
    capacity: 0,
    retry: "safe",
    ...change,
  };
}

export function entry(n: number, ...services: readonly ServiceClaim[]): RoutingEntry {
  return { peer: peer(n), claim: { services } };
}

export function candidate(n: number, change: Partial<Candidate> = {}): Candidate {
  return {
    peer: peer(n),
    service: "llm",
    engine,
    retry: "safe",
    capacity: 0,
    isSuspect: false,
    ...change,
  };
}

/** A policy with parts of its own where none are given; chance is always 0. */
export function selectorOf(policy: LbPolicy, parts: Partial<SelectorParts> = {}): Selector {
  return createSelector(policy, {
    book: new LoadBook(),
    random: () => 0,
    prefixes: new PrefixIndex(),
    ...parts,
  });
}
