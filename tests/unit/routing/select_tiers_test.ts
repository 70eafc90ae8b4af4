import { deepEqual, equal } from "node:assert/strict";
import fc from "fast-check";
import type { PeerId } from "../../../lib/base/peer_id.ts";
import type { Status } from "../../../lib/membership/status.ts";
import type { MatchKeys } from "../../../lib/routing/identity_group.ts";
import { parseAllowedPeers, parseFallbackLevel } from "../../../lib/routing/request_headers.ts";
import { selectTiers } from "../../../lib/routing/select_tiers.ts";
import type { Tier } from "../../../lib/routing/types.ts";
import {
  buildRoutingView,
  type RoutingEntry,
  type RoutingView,
} from "../../../lib/routing/view.ts";
import { entry, peer, service } from "./fixtures.ts";

const alive = (): Status => "alive";

function select(
  view: RoutingView,
  matchKeys: MatchKeys,
  fallbackLevel: Tier = 0,
  allowedPeers: readonly string[] | null = null,
): PeerId[][] | string {
  const selection = selectTiers(view, { service: "llm", matchKeys, fallbackLevel, allowedPeers });
  if (selection.outcome !== "tiers") return selection.outcome;
  return selection.tiers.map((tier) => tier.map((candidate) => candidate.peer));
}

const mixed = buildRoutingView({
  entries: [
    entry(3, service(["all"])),
    entry(2, service(["model=*"])),
    entry(1, service(["model=a", "model=b"])),
    entry(4, service(["bad", "model=a", "model=*", "all"])),
  ],
  statusOf: alive,
});
const asksA: MatchKeys = new Map([["model", "a"]]);

Deno.test("selectTiers falls back as far as the level allows, a peer in its best tier only", () => {
  deepEqual(select(mixed, asksA, 0), [[peer(1), peer(4)]]);
  deepEqual(select(mixed, asksA, 1), [[peer(1), peer(4)], [peer(2)]]);
  deepEqual(select(mixed, asksA, 2), [[peer(1), peer(4)], [peer(2)], [peer(3)]]);
  deepEqual(select(mixed, new Map([["model", "c"]]), 1), [[peer(2), peer(4)]]);
  deepEqual(select(mixed, new Map([["model", null]]), 1), [[peer(2), peer(4)]]);
  deepEqual(select(mixed, new Map(), 2), [[peer(3), peer(4)]]);
});

Deno.test("selectTiers tells no service, no match and none allowed apart", () => {
  equal(select(mixed, new Map(), 0), "no_match");
  equal(select(mixed, new Map([["model", "c"]])), "no_match");
  equal(select(mixed, asksA, 0, [peer(2), "nobody"]), "none_allowed");
  const request = {
    service: "LLM",
    matchKeys: asksA,
    fallbackLevel: 2,
    allowedPeers: null,
  } as const;
  equal(selectTiers(mixed, request).outcome, "no_such_service");
});

Deno.test("selectTiers keeps the order of the allowed peers", () => {
  const wishes = [peer(4), "x", peer(2), peer(1), peer(4)];
  deepEqual(select(mixed, asksA, 1, wishes), [[peer(4), peer(1)], [peer(2)]]);
  deepEqual(select(mixed, asksA, 0, []), [[peer(1), peer(4)]]);
  const selection = selectTiers(mixed, {
    service: "llm",
    matchKeys: asksA,
    fallbackLevel: 0,
    allowedPeers: wishes,
  });
  equal(selection.outcome === "tiers" && selection.isOrdered, true);
});

Deno.test("selectTiers takes any of several keys of a request", () => {
  const view = buildRoutingView({
    entries: [entry(1, service(["adapter=x"])), entry(2, service(["model=a", "adapter=x"]))],
    statusOf: alive,
  });
  deepEqual(select(view, new Map([["model", "a"], ["adapter", "x"]])), [[peer(1), peer(2)]]);
});

Deno.test("parseAllowedPeers ignores blanks; nothing left is no restriction", () => {
  deepEqual(parseAllowedPeers(" a ,, b,"), ["a", "b"]);
  for (const header of [null, "", " , ,"]) equal(parseAllowedPeers(header), null);
});

Deno.test("parseFallbackLevel takes 0, 1 and 2 and nothing else", () => {
  deepEqual(["0", "1", "2"].map(parseFallbackLevel), [0, 1, 2]);
  for (const header of [null, "", " 1", "3", "1.0", "-1", "two"]) {
    equal(parseFallbackLevel(header), 0);
  }
});

Deno.test("selectTiers agrees with the rules applied to one peer after the other", () => {
  const group = fc.constantFrom(
    "all",
    "model=*",
    "model=a",
    "model=b",
    "adapter=a",
    "adapter=*",
    "x",
  );
  const aService = fc.record({
    groups: fc.array(group, { maxLength: 4 }),
    name: fc.constantFrom("llm", "other"),
    state: fc.constantFrom("ready" as const, "draining" as const),
  });
  const aPeer = fc.record({
    services: fc.array(aService, { maxLength: 3 }),
    status: fc.constantFrom<Status>("alive", "suspect", "left"),
  });
  const value = fc.constantFrom("a", "b", "c", "*", null);
  const keys = fc.array(fc.tuple(fc.constantFrom("model", "adapter", "y"), value), {
    maxLength: 3,
  });
  const allowed = fc.option(fc.array(fc.nat(9), { maxLength: 6 }));
  fc.assert(
    fc.property(
      fc.array(aPeer, { maxLength: 8 }),
      keys,
      fc.nat(2),
      allowed,
      (peers, pairs, level, wish) => {
        const entries: RoutingEntry[] = peers.map(({ services }, n) =>
          entry(n, ...services.map(({ groups, name, state }) => service(groups, { name, state })))
        ).reverse();
        const statusOf = (id: PeerId) => peers[peers.findIndex((_, n) => peer(n) === id)].status;
        const matchKeys: MatchKeys = new Map<string, string | null>(pairs);
        const allowedPeers = wish && wish.map(peer);

        const tierOf = (n: number): number | undefined => {
          if (peers[n].status === "left") return undefined;
          const ranks = peers[n].services.filter((s) => s.name === "llm" && s.state === "ready")
            .flatMap((s) => s.groups).map((entry) => {
              if (entry === "all") return 2;
              if (!entry.includes("=")) return 9;
              const [key, wanted] = entry.split("=");
              if (!matchKeys.has(key)) return 9;
              return wanted === "*" ? 1 : matchKeys.get(key) === wanted ? 0 : 9;
            }).filter((rank) => rank <= level);
          return ranks.length === 0 ? undefined : Math.min(...ranks);
        };
        const tiers = [0, 1, 2].map((tier) =>
          peers.map((_, n) => n).filter((n) => tierOf(n) === tier).map(peer)
        ).filter((tier) => tier.length > 0);
        const isOffered = peers.some((p) =>
          p.status !== "left" && p.services.some((s) => s.name === "llm" && s.state === "ready")
        );
        let expected: PeerId[][] | string = tiers;
        if (!isOffered) expected = "no_such_service";
        else if (tiers.length === 0) expected = "no_match";
        else if (allowedPeers && allowedPeers.length > 0) {
          const order = [...new Set(allowedPeers)];
          const left = tiers.map((tier) => order.filter((id) => tier.includes(id)))
            .filter((tier) => tier.length > 0);
          expected = left.length === 0 ? "none_allowed" : left;
        }
        const view = buildRoutingView({ entries, statusOf });
        deepEqual(select(view, matchKeys, level as Tier, allowedPeers), expected);
      },
    ),
    { numRuns: 2_000 },
  );
});
