// Who may serve this request, best matches first?
import type { MatchKeys } from "./identity_group.ts";
import type { RoutingView, ServiceIndex } from "./view.ts";
import type { Candidate, Tier } from "./types.ts";

/** What of a request decides who may serve it. */
export type RoutingRequest = {
  readonly service: string;
  /** From the body or from `X-Otela-Identity-Group`; empty for a request that asks for nothing. */
  readonly matchKeys: MatchKeys;
  /** The worst tier that may serve: 0 exact, 1 also wildcard, 2 also catch-all. */
  readonly fallbackLevel: Tier;
  /** The only peers that may serve, most wanted first; `null` or empty: no restriction. See `parseAllowedPeers`. */
  readonly allowedPeers: readonly string[] | null;
};

/** Who may serve, or why nobody does. */
export type TierSelection =
  | {
    readonly outcome: "tiers";
    /** Best first, none empty; a peer stands in one tier only, its best. Lists belong to the view. */
    readonly tiers: readonly (readonly Candidate[])[];
    /** Whether the order within a tier is the client's wish, so that no policy may change it. */
    readonly isOrdered: boolean;
  }
  /** Nobody who is here offers a service of this name. */
  | { readonly outcome: "no_such_service" }
  /** The service exists, but not with what the request asks for. */
  | { readonly outcome: "no_match" }
  /** Some match, but none of them is allowed. */
  | { readonly outcome: "none_allowed" };

const noSuchService: TierSelection = { outcome: "no_such_service" };
const noMatch: TierSelection = { outcome: "no_match" };
const noneAllowed: TierSelection = { outcome: "none_allowed" };

/**
 * Decides who may serve a request. Usually (one key asked for, level 0) two look-ups and one small array;
 * with fallback or allowed peers linear in the matching candidates.
 */
export function selectTiers(view: RoutingView, request: RoutingRequest): TierSelection {
  const index = view.services.get(request.service);
  if (!index) return noSuchService;
  const tiers = matchingTiers(index, request);
  if (tiers.length === 0) return noMatch;
  const { allowedPeers } = request;
  if (!allowedPeers || allowedPeers.length === 0) {
    return { outcome: "tiers", tiers, isOrdered: false };
  }
  const allowed = tiers.map((tier) => allowedOf(tier, allowedPeers)).filter(isNotEmpty);
  return allowed.length === 0 ? noneAllowed : { outcome: "tiers", tiers: allowed, isOrdered: true };
}

function matchingTiers(index: ServiceIndex, request: RoutingRequest): (readonly Candidate[])[] {
  const exact: (readonly Candidate[])[] = [];
  const wildcard: (readonly Candidate[])[] = [];
  for (const [key, value] of request.matchKeys) {
    const exactHere = value === null ? undefined : index.exact.get(key)?.get(value);
    if (exactHere) exact.push(exactHere);
    const wildcardHere = request.fallbackLevel >= 1 ? index.wildcard.get(key) : undefined;
    if (wildcardHere) wildcard.push(wildcardHere);
  }
  const all = request.fallbackLevel === 2 ? [index.all] : [];
  return bestTierOnly([union(exact), union(wildcard), union(all)].filter(isNotEmpty));
}

/** The lists as one, a peer once, in the order of PeerIds; a single list stays itself. */
function union(lists: readonly (readonly Candidate[])[]): readonly Candidate[] {
  if (lists.length <= 1) return lists[0] ?? [];
  const byPeer = new Map<string, Candidate>();
  for (const list of lists) {
    for (const candidate of list) {
      if (!byPeer.has(candidate.peer)) byPeer.set(candidate.peer, candidate);
    }
  }
  return [...byPeer.values()].sort((a, b) => a.peer < b.peer ? -1 : 1);
}

function bestTierOnly(tiers: (readonly Candidate[])[]): (readonly Candidate[])[] {
  if (tiers.length <= 1) return tiers;
  const seen = new Set<string>();
  const distinct: (readonly Candidate[])[] = [];
  for (const tier of tiers) {
    distinct.push(tier.filter((candidate) => !seen.has(candidate.peer)));
    for (const candidate of tier) seen.add(candidate.peer);
  }
  return distinct.filter(isNotEmpty);
}

function allowedOf(
  tier: readonly Candidate[],
  allowedPeers: readonly string[],
): readonly Candidate[] {
  const byPeer = new Map<string, Candidate>(tier.map((candidate) => [candidate.peer, candidate]));
  const allowed: Candidate[] = [];
  for (const peer of allowedPeers) {
    const candidate = byPeer.get(peer);
    if (!candidate) continue;
    allowed.push(candidate);
    byPeer.delete(peer); // A peer named twice is asked once.
  }
  return allowed;
}

function isNotEmpty(tier: readonly Candidate[]): boolean {
  return tier.length > 0;
}
