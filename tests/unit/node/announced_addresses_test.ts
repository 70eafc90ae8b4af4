import { deepEqual } from "node:assert/strict";
import { announcedAddresses } from "../../../lib/node/announced_addresses.ts";

const announced = (publicAddr: string | null, tcpPort = 43_905, announce: string[] = []) =>
  announcedAddresses({ publicAddr, tcpPort, announce });

Deno.test("B70: what is announced is what was configured, with this node's own port, and nothing by itself", () => {
  deepEqual(announced(null), []);
  deepEqual(announced("203.0.113.7"), ["/ip4/203.0.113.7/tcp/43905"]);
  deepEqual(announced("203.0.113.7:80", 5), ["/ip4/203.0.113.7/tcp/5"]);
  deepEqual(announced("[2001:db8::1]:80"), ["/ip6/2001:db8::1/tcp/43905"]);
  deepEqual(announced("head.example.org", 5, ["/dns4/a.org/tcp/443"]), [
    "/dns/head.example.org/tcp/5",
    "/dns4/a.org/tcp/443",
  ]);
  // Which port the system will choose is not known.
  deepEqual(announced("203.0.113.7", 0, ["/dns4/a.org/tcp/443"]), ["/dns4/a.org/tcp/443"]);
});
