// What kind of place does an address name?
import { BlockList, isIP } from "node:net";

/** How far an address can be expected to reach. */
export type AddressKind = "loopback" | "link_local" | "bridge" | "private" | "public" | "name";

const listOf = (...subnets: readonly (readonly [string, number, "ipv4" | "ipv6"])[]) => {
  const list = new BlockList();
  for (const [network, prefix, family] of subnets) list.addSubnet(network, prefix, family);
  return list;
};

/** In the order of the question: the first list that holds an address names its kind. */
const kinds: readonly (readonly [AddressKind, BlockList])[] = [
  ["loopback", listOf(["127.0.0.0", 8, "ipv4"], ["::1", 128, "ipv6"])],
  ["link_local", listOf(["169.254.0.0", 16, "ipv4"], ["fe80::", 10, "ipv6"])],
  // Docker's and libvirt's default bridges: every host has the same ones, so they lead to the wrong machine.
  ["bridge", listOf(["172.17.0.0", 16, "ipv4"], ["192.168.122.0", 24, "ipv4"])],
  [
    "private",
    listOf(
      ["10.0.0.0", 8, "ipv4"],
      ["172.16.0.0", 12, "ipv4"],
      ["192.168.0.0", 16, "ipv4"],
      ["100.64.0.0", 10, "ipv4"],
      ["fc00::", 7, "ipv6"],
    ),
  ],
];

/** The host of a multiaddr: `/ip4/10.0.0.1/tcp/1` gives `10.0.0.1`; empty when it names none. */
export function hostOf(address: string): string {
  return /^(?:\/ip6zone\/[^/]+)?\/(?:ip4|ip6|dns|dns4|dns6|dnsaddr)\/([^/]+)/.exec(address)?.[1] ??
    "";
}

/** @param address A multiaddr, as text. */
export function addressKind(address: string): AddressKind {
  const host = hostOf(address);
  const family = isIP(host);
  if (family === 0) return "name";
  return kinds.find(([, list]) => list.check(host, family === 4 ? "ipv4" : "ipv6"))?.[0] ??
    "public";
}
