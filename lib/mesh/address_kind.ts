// What kind of place does an address name?
import { BlockList, isIP } from "node:net";

/** How far an address can be expected to reach. */
export type AddressKind = "loopback" | "link_local" | "bridge" | "private" | "public" | "name";

/** Networks by kind; the first that holds an address names its kind. */
const kinds: readonly (readonly [AddressKind, readonly string[]])[] = [
  ["loopback", ["127.0.0.0/8", "::1/128"]],
  ["link_local", ["169.254.0.0/16", "fe80::/10"]],
  // Docker's and libvirt's default bridges: many hosts have the same ones, so they lead to the wrong machine.
  ["bridge", ["172.17.0.0/16", "192.168.122.0/24"]],
  ["private", ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7"]],
];

const lists = kinds.map(([kind, networks]) => [kind, networkList(networks)] as const);

/** @param networks In CIDR notation; what is none is left out. */
export function networkList(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address, prefix] = network.split("/");
    const version = isIP(address);
    if (version === 0 || !/^\d+$/.test(prefix ?? "")) continue;
    list.addSubnet(address, Number(prefix), version === 4 ? "ipv4" : "ipv6");
  }
  return list;
}

/** The host of a multiaddr: `/ip4/10.0.0.1/tcp/1` gives `10.0.0.1`; empty when it names none. */
export function hostOf(address: string): string {
  return /^(?:\/ip6zone\/[^/]+)?\/(?:ip4|ip6|dns|dns4|dns6)\/([^/]+)/.exec(address)?.[1] ?? "";
}

/** Whether the host of a multiaddr is an IP address in one of the networks. */
export function isInNetworks(address: string, networks: BlockList): boolean {
  const host = hostOf(address);
  const version = isIP(host);
  return version !== 0 && networks.check(host, version === 4 ? "ipv4" : "ipv6");
}

/** @param address A multiaddr, as text. */
export function addressKind(address: string): AddressKind {
  if (isIP(hostOf(address)) === 0) return "name";
  return lists.find(([, list]) => isInNetworks(address, list))?.[0] ?? "public";
}
