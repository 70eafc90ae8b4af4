// Under which names do the nodes of one network speak to each other?

/** The names on the wire. All carry the network's name, so two networks on one machine never mix. */
export type MeshProtocols = {
  readonly admit: string;
  readonly exchange: string;
  /** Membership. */
  readonly probe: string;
  readonly sync: string;
  /** Kademlia. */
  readonly kad: string;
  /** Topic of claims and verdicts. */
  readonly gossip: string;
};

/** @param network Checked by the configuration: no slash. */
export function meshProtocols(network: string): MeshProtocols {
  return {
    admit: `/otela/${network}/admit/1`,
    exchange: `/otela/${network}/exchange/1`,
    probe: `/otela/${network}/probe/1`,
    sync: `/otela/${network}/sync/1`,
    kad: `/otela/${network}/kad/1`,
    gossip: `/otela/${network}/gossip/1`,
  };
}
