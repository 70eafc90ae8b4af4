// In which order are the addresses of a peer tried?
import { BlockList, isIP } from "node:net";
import { type AddressKind, addressKind, hostOf } from "./address_kind.ts";

/** An address of this machine with its prefix length, as `Deno.networkInterfaces` gives it. */
export type LocalSubnet = { readonly address: string; readonly prefix: number };

const rank: Record<AddressKind, number> = {
  public: 1,
  name: 1,
  private: 2,
  bridge: 3,
  link_local: 4,
  loopback: 4,
};

/**
 * Same subnet first, then public, private, and last what is most likely another machine's: bridges, link-local, loopback.
 * Order within a kind is kept.
 * @param addresses Multiaddrs of one peer.
 * @param subnets Ours; a loopback address counts as same subnet only when all of the peer's are loopback.
 */
export function dialOrder(addresses: readonly string[], subnets: readonly LocalSubnet[]): string[] {
  const near = new BlockList();
  for (const { address, prefix } of subnets) {
    if (addressKind(`/${isIP(address) === 4 ? "ip4" : "ip6"}/${address}`) === "loopback") continue;
    near.addSubnet(address, prefix, isIP(address) === 4 ? "ipv4" : "ipv6");
  }
  const rankOf = (address: string) => {
    const host = hostOf(address);
    const kind = addressKind(address);
    const isNear = isIP(host) !== 0 && kind !== "bridge" && kind !== "link_local" &&
      near.check(host, isIP(host) === 4 ? "ipv4" : "ipv6");
    return isNear ? 0 : rank[kind];
  };
  return addresses
    .map((address, index) => ({ address, index, rank: rankOf(address) }))
    .sort((a, b) => a.rank - b.rank || a.index - b.index)
    .map(({ address }) => address);
}
