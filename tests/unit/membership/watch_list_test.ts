import { deepEqual, equal, ok } from "node:assert/strict";
import fc from "fast-check";
import type { PeerId } from "../../../lib/base/peer_id.ts";
import { Roster } from "../../../lib/membership/roster.ts";
import { WatchList } from "../../../lib/membership/watch_list.ts";
import { peerNumbered } from "../../../lib/sim/peer_names.ts";

/** Whom a node watches, found the slow way: it is among the three nearest of all that are here. */
function watchedBy(self: PeerId, roster: Roster, out: ReadonlySet<PeerId>): PeerId[] {
  return [...roster.entries()].map(([peer]) => peer).filter((peer) =>
    peer !== self && !out.has(peer) &&
    roster.watchersOf(peer, 3, (other) => out.has(other)).includes(self)
  ).sort();
}

function rosterOf(count: number): Roster {
  const roster = new Roster();
  for (let number = 0; number < count; number++) roster.add(peerNumbered(number));
  return roster;
}

Deno.test("WatchList gives every peer min(3, others) watchers, whatever the size of the mesh", () => {
  for (const count of [1, 2, 3, 4, 10, 100, 400]) {
    const roster = rosterOf(count);
    const watchers = new Map<PeerId, number>();
    let most = 0;
    for (const [self] of roster.entries()) {
      const { watched } = new WatchList(self, roster, () => false);
      most = Math.max(most, watched.length);
      for (const peer of watched) watchers.set(peer, (watchers.get(peer) ?? 0) + 1);
    }
    for (const [peer] of roster.entries()) equal(watchers.get(peer) ?? 0, Math.min(3, count - 1));
    ok(most <= 16, `nobody watches more than a few: ${most} of ${count}`);
  }
});

Deno.test("WatchList agrees with the slow way while peers come, leave and return", () => {
  const step = fc.tuple(
    fc.constantFrom("claim", "unclaim", "leave", "return"),
    fc.integer({ min: 1, max: 60 }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
      const roster = rosterOf(30);
      const self = peerNumbered(0);
      const out = new Set<PeerId>();
      const list = new WatchList(self, roster, (peer) => out.has(peer));
      for (const [kind, number] of steps) {
        const peer = peerNumbered(number);
        if (kind === "claim" && roster.add(peer)) list.entered(peer);
        if (kind === "unclaim" && roster.has(peer)) {
          const wasIn = !out.delete(peer);
          roster.remove(peer);
          if (wasIn) list.exited(peer);
        }
        if (kind === "leave" && roster.has(peer) && !out.has(peer)) {
          out.add(peer);
          list.exited(peer);
        }
        if (kind === "return" && out.delete(peer)) list.entered(peer);
        deepEqual([...list.watched].sort(), watchedBy(self, roster, out));
      }
    }),
    { numRuns: 60 },
  );
});

Deno.test("Roster finds watchers where nearly everybody has left", () => {
  const roster = rosterOf(300);
  const here = new Set([peerNumbered(7), peerNumbered(8), peerNumbered(9), peerNumbered(10)]);
  const watchers = roster.watchersOf(peerNumbered(0), 3, (peer) => !here.has(peer));
  equal(watchers.length, 3);
  ok(watchers.every((peer) => here.has(peer)));
});
