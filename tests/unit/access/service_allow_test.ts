import { equal, throws } from "node:assert/strict";
import type { PeerId } from "../../../lib/base/peer_id.ts";
import { mayUseService, parseServiceAllow } from "../../../lib/access/service_allow.ts";

const friend = `12D3KooW${"A".repeat(44)}` as PeerId;
const stranger = `12D3KooW${"B".repeat(44)}` as PeerId;

Deno.test("mayUseService lets the network in, or only the peers of the list", () => {
  for (const value of ["network", ["network"]]) {
    equal(mayUseService(parseServiceAllow(value), stranger), true);
  }
  for (const value of [friend, [friend]]) {
    equal(mayUseService(parseServiceAllow(value), friend), true);
    equal(mayUseService(parseServiceAllow(value), stranger), false);
  }
  equal(mayUseService(parseServiceAllow([]), friend), false);
});

Deno.test("parseServiceAllow fails closed on what it does not know", () => {
  for (const value of ["", "any", "Network", ["network", friend], [friend, "*"], [` ${friend}`]]) {
    throws(() => parseServiceAllow(value), { code: "config_invalid" });
  }
  throws(() => parseServiceAllow(Array(10_001).fill(friend)), /at most 10000 peers: has 10001/);
});
