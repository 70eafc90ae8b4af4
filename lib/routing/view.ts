// What does one request see of the mesh?
import type { PeerId } from "../base/peer_id.ts";
import type { Status } from "../membership/status.ts";
import type { Claim, ServiceClaim } from "../registry/claim.ts";
import { parseIdentityGroup } from "./identity_group.ts";
import { type WantedKeys, wantKeys } from "./key_scanner.ts";
import type { Candidate } from "./types.ts";

/**
 * Body keys that one service may be matched by. Beyond it the keys of the most peers win, so that one peer's
 * claim cannot make every request look for thousands of keys. One or two are usual; the number is a guess.
 */
export const matchKeysMax = 16;

/** Who serves one service, by what they can be asked for. Every list is in the order of PeerIds. */
export type ServiceIndex = {
  /** Key, then value: who has exactly this group. */
  readonly exact: ReadonlyMap<string, ReadonlyMap<string, readonly Candidate[]>>;
  /** Key: who takes any value of it. */
  readonly wildcard: ReadonlyMap<string, readonly Candidate[]>;
  /** Who takes everything. */
  readonly all: readonly Candidate[];
  /** The keys to look for in a body, at most `matchKeysMax`. */
  readonly wanted: WantedKeys;
  /** The same and `stream`. */
  readonly wantedAndStream: WantedKeys;
};

/** An immutable picture of who serves what. A request takes one and keeps it to its end. */
export type RoutingView = {
  readonly services: ReadonlyMap<string, ServiceIndex>;
  /**
   * The same with those who have left or drain, as long as their claims are kept: nobody to ask, but it tells what
   * may come back from what there never was. Made when it is first asked for, which only failing requests do.
   */
  readonly claimed: () => RoutingView;
};

/** One peer of the registry. */
export type RoutingEntry = { readonly peer: PeerId; readonly claim: Pick<Claim, "services"> };

/** What a view is made of. */
export type RoutingFacts = {
  readonly entries: Iterable<RoutingEntry>;
  /** What membership says; peers that `left` serve nothing. */
  readonly statusOf: (peer: PeerId) => Status;
  /** This node and what it serves itself, always alive. What the mesh says of this node is not believed. */
  readonly self?: { readonly peer: PeerId; readonly services: readonly ServiceClaim[] };
};

/**
 * Builds the picture anew; call it when claims or statuses changed, not per request. A thousand peers with five
 * models each take about 1.3 ms. Services that drain take nothing new and are left out.
 */
export function buildRoutingView({ entries, statusOf, self }: RoutingFacts): RoutingView {
  const offers: Offer[] = [];
  for (const { peer, claim } of entries) {
    if (peer === self?.peer || claim.services.length === 0) continue;
    offers.push({ peer, services: claim.services, status: statusOf(peer) });
  }
  if (self) offers.push({ ...self, status: "alive" });
  offers.sort((a, b) => a.peer < b.peer ? -1 : a.peer > b.peer ? 1 : 0);
  let claimed: RoutingView | undefined;
  return {
    services: indexServices(offers, (status, state) => status !== "left" && state !== "draining"),
    claimed: () => claimed ??= viewOfClaims(offers),
  };
}

function viewOfClaims(offers: readonly Offer[]): RoutingView {
  const view: RoutingView = { services: indexServices(offers, () => true), claimed: () => view };
  return view;
}

/** What one peer claims, and what membership says of it. */
type Offer = {
  readonly peer: PeerId;
  readonly services: readonly ServiceClaim[];
  readonly status: Status;
};

function indexServices(
  offers: readonly Offer[],
  isWanted: (status: Status, state: ServiceClaim["state"]) => boolean,
): ReadonlyMap<string, ServiceIndex> {
  const drafts = new Map<string, DraftIndex>();
  for (const { peer, services, status } of offers) {
    const isSuspect = status === "suspect";
    for (const service of services) {
      if (isWanted(status, service.state)) addService(drafts, { peer, service, isSuspect });
    }
  }
  return new Map(Array.from(drafts, ([name, draft]) => [name, seal(draft)]));
}

type DraftIndex = {
  exact: Map<string, Map<string, Candidate[]>>;
  wildcard: Map<string, Candidate[]>;
  all: Candidate[];
  /** How many entries of claims use a key. */
  keyUses: Map<string, number>;
};

function addService(
  drafts: Map<string, DraftIndex>,
  { peer, service, isSuspect }: { peer: PeerId; service: ServiceClaim; isSuspect: boolean },
): void {
  let draft = drafts.get(service.name);
  if (!draft) {
    draft = { exact: new Map(), wildcard: new Map(), all: [], keyUses: new Map() };
    drafts.set(service.name, draft);
  }
  const { name, engine, retry, capacity } = service;
  const candidate: Candidate = { peer, service: name, engine, retry, capacity, isSuspect };
  const keysOfPeer = new Set<string>();
  for (const entry of service.identityGroups) {
    const group = parseIdentityGroup(entry);
    if (!group) continue;
    if (group.kind === "all") {
      addOnce(draft.all, candidate);
      continue;
    }
    keysOfPeer.add(group.key);
    if (group.kind === "wildcard") addOnce(listAt(draft.wildcard, group.key), candidate);
    else addOnce(listAt(mapAt(draft.exact, group.key), group.value), candidate);
  }
  for (const key of keysOfPeer) draft.keyUses.set(key, (draft.keyUses.get(key) ?? 0) + 1);
}

/** Peers come in order, so the same peer's other service of this name can only be the last one added. */
function addOnce(list: Candidate[], candidate: Candidate): void {
  if (list.at(-1)?.peer !== candidate.peer) list.push(candidate);
}

function listAt(map: Map<string, Candidate[]>, key: string): Candidate[] {
  let list = map.get(key);
  if (!list) map.set(key, list = []);
  return list;
}

function mapAt<Value>(map: Map<string, Map<string, Value>>, key: string): Map<string, Value> {
  let inner = map.get(key);
  if (!inner) map.set(key, inner = new Map());
  return inner;
}

function seal({ exact, wildcard, all, keyUses }: DraftIndex): ServiceIndex {
  const byUse = [...keyUses].sort(([a, usesA], [b, usesB]) => usesB - usesA || (a < b ? -1 : 1));
  const keys = byUse.slice(0, matchKeysMax).map(([key]) => key);
  return {
    exact,
    wildcard,
    all,
    wanted: wantKeys(keys),
    wantedAndStream: wantKeys(keys, { withStream: true }),
  };
}
