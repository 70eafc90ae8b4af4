import { deepEqual, equal } from "node:assert/strict";
import { Members, membersMax } from "../../../lib/membership/members.ts";
import type { PeerId } from "../../../lib/base/peer_id.ts";

const context = { nowMs: 5, random: () => 0.5 };
const peer = (n: number) => `peer-${n}` as PeerId;

Deno.test("Members knows a peer by its first event and says when its status changes", () => {
  const members = new Members();
  equal(members.statusOf(peer(1)), "suspect");
  equal(members.get(peer(1)), undefined);
  deepEqual(members.apply(peer(1), { type: "ticked" }, context), {
    effects: [],
    isStatusChanged: false,
  });
  equal(members.size, 0);
  equal(members.apply(peer(1), { type: "connected" }, context).isStatusChanged, true);
  equal(members.apply(peer(1), { type: "connected" }, context).isStatusChanged, false);
  equal(members.statusOf(peer(1)), "alive");
  const lost = members.apply(peer(1), { type: "disconnected", remainingCount: 0 }, context);
  deepEqual([lost.isStatusChanged, lost.effects[0].type], [true, "redial"]);
  members.forget(peer(1));
  equal(members.size, 0);
});

Deno.test("Members makes room for newcomers by who has left, then by who is not connected", () => {
  const members = new Members();
  const claimed = { type: "claimSeen", isNewRun: true, isWanted: false } as const;
  members.apply(peer(0), { type: "connected" }, context);
  members.apply(peer(1), claimed, context);
  members.apply(peer(2), { type: "goodbye" }, context);
  for (let n = 3; n < membersMax; n++) members.apply(peer(n), { type: "connected" }, context);
  equal(members.size, membersMax);
  members.apply(peer(-1), claimed, context);
  equal(members.get(peer(2)), undefined);
  members.apply(peer(-2), { type: "connected" }, context);
  equal(members.get(peer(1)), undefined);
  equal(members.statusOf(peer(0)), "alive");
  equal(members.size, membersMax);
  equal([...members.entries()].length, membersMax);
});
