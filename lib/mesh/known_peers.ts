// What does libp2p remember of peers that are gone?
import type { PeerId as Libp2pPeerId, PeerUpdate, TypedEventTarget } from "@libp2p/interface";
import { peerIdFromString } from "@libp2p/peer-id";

/**
 * Unconnected peers of which libp2p keeps addresses and protocols, for the DHT: more than its routing table holds in a
 * mesh of 5,000. Each takes 8 KiB, since its record lies in a slab of that size (measured with `bench steady`).
 */
export const knownPeersMax = 256;

/** The part of libp2p that this needs. */
export type KnownPeersHost =
  & Pick<
    TypedEventTarget<{
      "peer:connect": CustomEvent<Libp2pPeerId>;
      "peer:disconnect": CustomEvent<Libp2pPeerId>;
      "peer:update": CustomEvent<PeerUpdate>;
    }>,
    "addEventListener"
  >
  & {
    readonly peerStore: { delete(peer: Libp2pPeerId): Promise<void> };
    getConnections(peer: Libp2pPeerId): readonly unknown[];
  };

/**
 * libp2p's peer store forgets nobody whom it is not asked for: each stranger that ever connected, or was named by the
 * DHT, stayed for the life of the node (C054). Here the one heard of longest ago is forgotten when there are too many.
 */
export function boundKnownPeers(host: KnownPeersHost, max = knownPeersMax): void {
  /** Not connected, the one heard of longest ago first. As text: libp2p's objects hold the slab they were read from. */
  const away = new Set<string>();
  const heardOf = (peer: Libp2pPeerId) => {
    const id = peer.toString();
    away.delete(id);
    if (host.getConnections(peer).length > 0) return;
    away.add(id);
    if (away.size <= max) return;
    const oldest = away.values().next().value!;
    away.delete(oldest);
    host.peerStore.delete(peerIdFromString(oldest)).catch(() => {}); // Only while libp2p stops.
  };
  host.addEventListener("peer:connect", ({ detail }) => heardOf(detail));
  host.addEventListener("peer:disconnect", ({ detail }) => heardOf(detail));
  host.addEventListener("peer:update", ({ detail }) => heardOf(detail.peer.id));
}
