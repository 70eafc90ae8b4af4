// Which addresses are told, tried first, and bound?
import { deepEqual, equal } from "node:assert/strict";
import { addressKind } from "../../../lib/mesh/address_kind.ts";
import { announceFilter, unannouncedNetworks } from "../../../lib/mesh/announce_filter.ts";
import { dialOrder } from "../../../lib/mesh/dial_order.ts";
import { listenPlan } from "../../../lib/mesh/listen_plan.ts";

const loopback = "/ip4/127.0.0.1/tcp/1";
const docker = "/ip4/172.17.0.1/tcp/1";
const linkLocal = "/ip6/fe80::1/tcp/1";
const cluster = "/ip4/10.1.2.3/tcp/1";
const far = "/ip4/10.9.9.9/tcp/1";
const open = "/ip4/8.8.8.8/tcp/1";
const named = "/dns4/head.example.org/tcp/1";

Deno.test("addressKind knows how far an address reaches", () => {
  const kinds = [loopback, "/ip6/::1/tcp/1", docker, linkLocal, cluster, open, named].map(
    addressKind,
  );
  deepEqual(kinds, ["loopback", "loopback", "bridge", "link_local", "private", "public", "name"]);
  equal(addressKind("/ip6/fd00::2/tcp/1"), "private");
  equal(addressKind("/ip6/2001:db8::1/tcp/1"), "public");
  equal(addressKind("/ip6zone/eth0/ip6/fe80::1/tcp/1"), "link_local");
  equal(addressKind("nonsense"), "name");
});

Deno.test("announceFilter drops local addresses unless there is nothing else", () => {
  const filter = (addresses: string[]) => announceFilter(addresses, unannouncedNetworks);
  deepEqual(filter([loopback, docker, linkLocal, cluster, named]), [cluster, named]);
  deepEqual(filter([loopback]), [loopback]);
  deepEqual(announceFilter([loopback, cluster], ["10.0.0.0/8", "bad", "8.8.8.8"]), [loopback]);
  deepEqual(filter([]), []);
});

Deno.test("B70: announceFilter tells no local address where another one was configured", () => {
  const filter = (addresses: string[]) => announceFilter(addresses, unannouncedNetworks, true);
  deepEqual(filter([loopback, docker]), []); // All that a container is bound to.
  deepEqual(filter([loopback, cluster]), [cluster]);
});

Deno.test("dialOrder puts the same subnet first and ambiguous addresses last", () => {
  const subnets = ["127.0.0.1/8", "10.1.0.1/16", "172.17.0.1/16", "fe80::2/64"];
  const order = dialOrder([loopback, docker, linkLocal, far, open, named, cluster], subnets);
  deepEqual(order, [cluster, open, named, far, docker, loopback, linkLocal]);
});

Deno.test("listenPlan lets :: serve IPv4 too when the port is the same", () => {
  deepEqual(listenPlan(["/ip4/0.0.0.0/tcp/5", "/ip6/::/tcp/5"]), ["/ip6/::/tcp/5"]);
  const different = ["/ip4/0.0.0.0/tcp/5", "/ip6/::/tcp/6"];
  deepEqual(listenPlan(different), different);
  deepEqual(listenPlan(["/ip4/0.0.0.0/tcp/5"]), ["/ip4/0.0.0.0/tcp/5"]);
});
