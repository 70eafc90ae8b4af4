// What does the rest of the node see of the mesh?
import type { ByteStream } from "../base/byte_stream.ts";
import type { PeerId } from "../base/peer_id.ts";
import type { Clock, Log, Random } from "../base/ports.ts";
import type { Role } from "../registry/claim.ts";

export type MeshEvent =
  /** The first admitted connection of that peer is here. */
  | { readonly type: "connected"; readonly peer: PeerId; readonly isRelayed: boolean }
  /** Its last admitted connection is gone. */
  | { readonly type: "disconnected"; readonly peer: PeerId }
  /** No address of it answered; refused: every one said that nobody listens there. */
  | { readonly type: "dialFailed"; readonly peer: PeerId; readonly isRefused: boolean };

/** What two nodes speak over streams of the mesh. */
export type MeshProtocol = "exchange" | "probe" | "sync";

/** What becomes of a gossip message: `reject` also counts against the neighbour it came from. */
export type GossipVerdict = "accept" | "ignore" | "reject";

export type ConnectedPeer = {
  readonly peer: PeerId;
  /** Multiaddrs of its connections, as seen from here. */
  readonly addresses: string[];
  /** Whether every connection to it runs over a relay. */
  readonly isRelayed: boolean;
  /** Of its oldest connection. */
  readonly direction: "inbound" | "outbound";
};

/** This node's place in the mesh; hides libp2p. Everything in it concerns admitted connections only. */
export interface Mesh {
  readonly peerId: PeerId;
  /** Addresses told to others, with `/p2p/<id>`. */
  multiaddrs(): string[];
  /** Addresses told to others, without `/p2p/<id>`. */
  addresses(): string[];
  connectedPeers(): ConnectedPeer[];
  isConnected(peer: PeerId): boolean;
  /** Listeners are called in the turn in which it happened. @returns A function that ends it. */
  subscribe(listener: (event: MeshEvent) => void): () => void;
  /**
   * Dials unless connected; admitted when resolved. Several calls at once share one dial.
   * @param addresses Multiaddrs with or without `/p2p/…`; empty: those it was seen at before.
   * @throws {OtelaError} `peer_unreachable` when none answers, `forbidden` when either side refuses.
   */
  connect(peer: PeerId, addresses: readonly string[], signal: AbortSignal): Promise<void>;
  /** @throws {OtelaError} `peer_unreachable` when there is no connection or the peer refuses the stream. */
  openStream(peer: PeerId, protocol: MeshProtocol, signal: AbortSignal): Promise<ByteStream>;
  /** Who takes inbound streams of a protocol; must bind the stream at once. Without one they are refused. */
  handle(protocol: MeshProtocol, accept: (peer: PeerId, stream: ByteStream) => void): void;
  /** Gossips to the whole network, itself excepted. @throws {OtelaError} `bad_request` when too large. */
  publish(bytes: Uint8Array): Promise<void>;
  /** Judges each new message before it is passed on; `from` is the neighbour that sent it, not its author. */
  onGossip(validate: (from: PeerId, bytes: Uint8Array) => GossipVerdict): void;
  /** Closes every connection to a peer; it is not redialled. */
  disconnect(peer: PeerId): Promise<void>;
  /** For `/metrics`; names are fixed. */
  counters(): Readonly<Record<string, number>>;
  /** Resolves when the first other node is connected; perhaps never. */
  readonly joined: Promise<void>;
  /** Whether no other node is connected although every bootstrap source was tried, or as there is none. */
  isAlone(): boolean;
  /** Leaves: closes listeners and connections. Idempotent. */
  close(): Promise<void>;
}

export type MeshOptions = {
  /** Name of the network; a node of another one is refused. */
  readonly network: string;
  /** Closes the network; empty or `undefined`: open. */
  readonly secret: string | undefined;
  /** libp2p's protobuf of an Ed25519 or RSA private key. */
  readonly privateKeyProtobuf: Uint8Array;
  /** Heads and relays serve the DHT and have room for many connections. */
  readonly role: Role;
  /** Multiaddrs to listen on; port 0 takes a free one. */
  readonly listen: readonly string[];
  /** Multiaddrs told to others besides, and before, those that the listeners are bound to. */
  readonly announce: readonly string[];
  /** Networks (CIDR) not told while another address is left; loopback, link-local, Docker's when not given. */
  readonly announceFilter?: readonly string[];
  /** Where other nodes are found; see `bootstrap_source.ts`. Empty: this node stands alone until dialled. */
  readonly bootstrap: readonly string[];
  /** File in which this node keeps its addresses, for others' `file:PATH`. */
  readonly bootstrapWrite?: string | null;
  /** Connections kept; by role when not given. */
  readonly connectionsMax?: number;
  /** PeerIds that never connect. */
  readonly deny: readonly PeerId[];
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
};
