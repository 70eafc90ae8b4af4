import { deepEqual } from "node:assert/strict";
import type { PeerId as Libp2pPeerId, PeerUpdate } from "@libp2p/interface";
import { peerIdFromString } from "@libp2p/peer-id";
import { boundKnownPeers, type KnownPeersHost } from "../../../lib/mesh/known_peers.ts";

const letters = "ABCD";
const peers = [...letters].map((letter) =>
  peerIdFromString(`12D3KooWGRUPcSGwbkBbHGfbuoCgbZ1L8fLBmVBPGkSmtXPs9fg${letter}`)
);

/** A host that knows who is connected and notes who is deleted. */
class FakeHost {
  readonly connected = new Set<Libp2pPeerId>();
  deleted = "";
  readonly #events = new EventTarget();
  readonly addEventListener = this.#events.addEventListener.bind(
    this.#events,
  ) as KnownPeersHost["addEventListener"];
  readonly peerStore = {
    delete: (peer: Libp2pPeerId) => {
      this.deleted += peer.toString().at(-1);
      return Promise.resolve();
    },
  };

  getConnections(peer: Libp2pPeerId): readonly unknown[] {
    return this.connected.has(peer) ? [{}] : [];
  }

  connect(peer: Libp2pPeerId): void {
    this.connected.add(peer);
    this.#events.dispatchEvent(new CustomEvent("peer:connect", { detail: peer }));
  }

  disconnect(peer: Libp2pPeerId): void {
    this.connected.delete(peer);
    this.#events.dispatchEvent(new CustomEvent("peer:disconnect", { detail: peer }));
  }

  update(peer: Libp2pPeerId): void {
    const detail = { peer: { id: peer } } as PeerUpdate;
    this.#events.dispatchEvent(new CustomEvent("peer:update", { detail }));
  }
}

Deno.test("C054: boundKnownPeers forgets who was heard of longest ago, and nobody who is connected", () => {
  const host = new FakeHost();
  boundKnownPeers(host, 2);
  const [a, b, c, d] = peers;
  for (const peer of peers) host.connect(peer);
  for (const peer of [a, b]) host.disconnect(peer);
  host.update(c);
  deepEqual(host.deleted, "");
  host.disconnect(c);
  deepEqual(host.deleted, "A");
  host.update(b); // The DHT named it again.
  host.disconnect(d);
  deepEqual(host.deleted, "AC");
  host.connect(b);
  host.update(a);
  deepEqual(host.deleted, "AC");
});
