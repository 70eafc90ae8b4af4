// Over which admitted connections is which peer reached?
import type { Connection } from "@libp2p/interface";
import type { PeerId } from "../base/peer_id.ts";

/** Admitted connections by peer. At most as many as libp2p keeps open. */
export class PeerTable {
  readonly #connections = new Map<PeerId, Set<Connection>>();

  /** @returns Whether it is the first of its peer. */
  add(peer: PeerId, connection: Connection): boolean {
    const known = this.#connections.get(peer);
    if (known) known.add(connection);
    else this.#connections.set(peer, new Set([connection]));
    return known === undefined;
  }

  /** @returns Whether it was the last of its peer. */
  remove(peer: PeerId, connection: Connection): boolean {
    const known = this.#connections.get(peer);
    if (!known?.delete(connection) || known.size > 0) return false;
    return this.#connections.delete(peer);
  }

  has(peer: PeerId): boolean {
    return this.#connections.has(peer);
  }

  peers(): PeerId[] {
    return [...this.#connections.keys()];
  }

  connectionsOf(peer: PeerId): Connection[] {
    return [...this.#connections.get(peer) ?? []];
  }

  /** The connection for a new stream: open, direct before relayed, older before newer. */
  best(peer: PeerId): Connection | undefined {
    const open = this.connectionsOf(peer).filter(({ status }) => status === "open");
    return open.find(({ direct }) => direct) ?? open[0];
  }
}
