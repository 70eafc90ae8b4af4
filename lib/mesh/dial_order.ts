// In which order are the addresses of a peer tried?
import { type AddressKind, addressKind, isInNetworks, networkList } from "./address_kind.ts";

const rankOfKind: Record<AddressKind, number> = {
  public: 1,
  name: 1,
  private: 2,
  bridge: 3,
  link_local: 4,
  loopback: 4,
};

/** Kinds in which two machines have the same subnet without being on the same network. */
const ambiguousKinds: readonly AddressKind[] = ["loopback", "link_local", "bridge"];

/**
 * Same subnet first, then public, private, and last what is most likely another machine's: bridges, link-local, loopback.
 * Order within a rank is kept.
 * @param addresses Multiaddrs of one peer.
 * @param subnets This machine's, in CIDR notation.
 */
export function dialOrder(addresses: readonly string[], subnets: readonly string[]): string[] {
  const near = networkList(subnets);
  const rankOf = (address: string) => {
    const kind = addressKind(address);
    const isNear = !ambiguousKinds.includes(kind) && isInNetworks(address, near);
    return isNear ? 0 : rankOfKind[kind];
  };
  return addresses
    .map((address, index) => ({ address, index, rank: rankOf(address) }))
    .sort((a, b) => a.rank - b.rank || a.index - b.index)
    .map(({ address }) => address);
}
