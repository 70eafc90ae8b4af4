import { deepEqual, equal } from "node:assert/strict";
import fc from "fast-check";
import type { PeerId } from "../../../lib/base/peer_id.ts";
import { Attempts, type RetryLimits, unreachedAttemptsMax } from "../../../lib/routing/attempts.ts";
import { LoadBook } from "../../../lib/routing/load_book.ts";
import { Outliers, restFirstMs } from "../../../lib/routing/outliers.ts";
import type { Candidate } from "../../../lib/routing/types.ts";
import { seededRandom } from "../../../lib/sim/seeded_random.ts";
import { candidate, peer, selectorOf } from "./fixtures.ts";

const limits: RetryLimits = { isEnabled: true, retriesMax: 99 };

function attemptsOf(
  tiers: readonly (readonly Candidate[])[],
  change: { limits?: RetryLimits; book?: LoadBook } = {},
): Attempts {
  const book = change.book ?? new LoadBook();
  const selector = selectorOf("round-robin", { book });
  return new Attempts({ tiers, isOrdered: false, selector, book, limits, ...change });
}

function all(attempts: Attempts, nowMs = 0): PeerId[] {
  const peers: PeerId[] = [];
  for (let next = attempts.next(nowMs); next; next = attempts.next(nowMs)) {
    peers.push(next.candidate.peer);
  }
  return peers;
}

Deno.test("B45: Attempts tries every peer once, suspects last in their tier, then the next tier", () => {
  const tiers = [
    [candidate(1, { isSuspect: true }), candidate(2), candidate(3)],
    [candidate(4), candidate(2)],
  ];
  const attempts = attemptsOf(tiers);
  deepEqual(all(attempts), [2, 3, 1, 4].map(peer));
  equal(attempts.count, 4);
  deepEqual(attemptsOf(tiers).next(0), { candidate: tiers[0][1], number: 1, tierIndex: 0 });
});

Deno.test("Attempts asks suspects when nobody else is left", () => {
  deepEqual(all(attemptsOf([[candidate(1, { isSuspect: true })]])), [peer(1)]);
});

Deno.test("Attempts asks who could not be reached a moment ago after the others, before suspects", () => {
  const book = new LoadBook();
  book.failed(candidate(1), 0);
  const tier = [candidate(1), candidate(2, { isSuspect: true }), candidate(3)];
  deepEqual(all(attemptsOf([tier], { book }), 999), [3, 1, 2].map(peer));
  deepEqual(all(attemptsOf([tier], { book }), 1_000), [1, 3, 2].map(peer));
});

Deno.test("Attempts keeps the client's order, but asks suspects last", () => {
  const tier = [candidate(3), candidate(2, { isSuspect: true }), candidate(1), candidate(4)];
  const book = new LoadBook();
  // This policy would begin with the last.
  const selector = selectorOf("random", { book, random: () => 0.99 });
  const plan = { tiers: [tier], selector, book, limits };
  deepEqual(all(new Attempts({ ...plan, isOrdered: true })), [3, 1, 4, 2].map(peer));
  deepEqual(all(new Attempts({ ...plan, isOrdered: false })), [4, 1, 3, 2].map(peer));
});

Deno.test("Attempts stops after the first and the retries", () => {
  const tier = [1, 2, 3, 4, 5].map((n) => candidate(n));
  equal(all(attemptsOf([tier], { limits: { isEnabled: true, retriesMax: 3 } })).length, 4);
  equal(all(attemptsOf([tier], { limits: { isEnabled: true, retriesMax: 0 } })).length, 1);
  equal(all(attemptsOf([tier], { limits: { isEnabled: false, retriesMax: 3 } })).length, 1);
});

Deno.test("Attempts does not count dead peers against the retries, up to a bound", () => {
  const tier = Array.from({ length: 40 }, (_, n) => candidate(n));
  const countOf = (limits: RetryLimits) => {
    const attempts = attemptsOf([tier], { limits });
    while (attempts.next(0)) attempts.unreached();
    return attempts.count;
  };
  equal(countOf({ isEnabled: true, retriesMax: 3 }), 4 + unreachedAttemptsMax);
  equal(countOf({ isEnabled: false, retriesMax: 3 }), 1);
});

Deno.test("Attempts of every policy visit each peer of all tiers exactly once, better tiers first", () => {
  const policies = fc.constantFrom("p2c", "random", "round-robin", "shortest-queue");
  const member = fc.record({ n: fc.nat(12), isSuspect: fc.boolean(), isFailed: fc.boolean() });
  const tier = fc.uniqueArray(member, { selector: ({ n }) => n, maxLength: 8 });
  fc.assert(
    fc.property(fc.array(tier, { maxLength: 3 }), policies, fc.nat(), (tiers, policy, seed) => {
      const book = new LoadBook();
      const known = tiers.map((members) =>
        members.map(({ n, isSuspect, isFailed }) => {
          if (isFailed) book.failed(candidate(n), 0);
          return candidate(n, { isSuspect });
        })
      );
      const selector = selectorOf(policy, { book, random: seededRandom(seed) });
      const attempts = new Attempts({ tiers: known, isOrdered: false, selector, book, limits });
      const visited: string[] = [];
      let lastRank = -1;
      for (let next = attempts.next(5); next; next = attempts.next(5)) {
        const { candidate: chosen, tierIndex } = next;
        visited.push(chosen.peer);
        const rank = tierIndex * 4 + (chosen.isSuspect ? 2 : 0) +
          (book.isCoolingDown(chosen, 5) ? 1 : 0);
        equal(rank >= lastRank, true);
        lastRank = rank;
      }
      const expected = new Set(known.flat().map((c) => c.peer));
      deepEqual([...visited].sort(), [...expected].sort());
    }),
  );
});

Deno.test("Attempts passes over who has no room or keeps failing, falls through tiers, and says why", () => {
  const tiers = [[candidate(1), candidate(2)], [candidate(3)]];
  const book = new LoadBook();
  const outliers = new Outliers();
  for (let count = 0; count < 3; count++) outliers.failed(candidate(2), 0);
  const full = new Set([peer(1)]);
  const attempts = new Attempts({
    tiers,
    isOrdered: false,
    selector: selectorOf("round-robin", { book }),
    book,
    limits,
    outliers,
    isFull: (one) => full.has(one.peer),
  });
  equal(attempts.next(0)?.candidate.peer, peer(3));
  equal(attempts.next(0), undefined);
  equal(attempts.blocked, "full");
  full.clear();
  equal(attempts.next(0)?.candidate.peer, peer(1));
  equal(attempts.next(0), undefined);
  equal(attempts.blocked, "out");
  equal(attempts.next(restFirstMs)?.candidate.peer, peer(2));
  equal(attempts.next(restFirstMs), undefined);
  equal(attempts.blocked, "nobody");
});

Deno.test("Attempts.nextLike stays in the tier and among those who can go on", () => {
  const tiers = [[candidate(1), candidate(2), candidate(3)], [candidate(4)]];
  const attempts = attemptsOf(tiers, { limits: { isEnabled: true, retriesMax: 0 } });
  const first = attempts.next(0)!;
  const accepts = (one: Candidate) => one.peer !== peer(2);
  equal(attempts.nextLike(first, accepts, 0)?.candidate.peer, peer(3));
  equal(attempts.nextLike(first, accepts, 0), undefined);
});
