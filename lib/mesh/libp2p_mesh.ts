// How does libp2p carry what a node asks of its mesh?
import type { Connection, Stream } from "@libp2p/interface";
import { messageOf, OtelaError } from "../base/errors.ts";
import { parsePeerId, type PeerId } from "../base/peer_id.ts";
import type { ByteStream } from "../base/byte_stream.ts";
import type { Admission } from "./admission.ts";
import { announceFilter } from "./announce_filter.ts";
import { Dialer } from "./dialer.ts";
import { Gossip } from "./gossip.ts";
import type { Host } from "./host.ts";
import { protocolStreamsMax } from "./host_limits.ts";
import { localSubnets } from "./local_subnets.ts";
import type { MeshCounters } from "./mesh_counters.ts";
import type { MeshProtocols } from "./mesh_protocols.ts";
import { MeshStream } from "./mesh_stream.ts";
import { PeerTable } from "./peer_table.ts";
import type { ConnectedPeer, Mesh, MeshEvent, MeshOptions, MeshProtocol } from "./types.ts";

export type Libp2pMeshParts = {
  readonly options: MeshOptions;
  readonly self: PeerId;
  readonly host: Host;
  readonly admission: Admission;
  readonly protocols: MeshProtocols;
  readonly counters: MeshCounters;
};

/** Options of every stream of ours; a relay that limits itself is better than none. */
const streamOptions = {
  runOnLimitedConnection: true,
  maxInboundStreams: protocolStreamsMax,
  maxOutboundStreams: protocolStreamsMax,
};

/** Addresses remembered of peers that are not connected (a claim's worth each). */
const seenPeersMax = 20_000;

type Accept = Parameters<Mesh["handle"]>[1];

/** Built by `startMesh`. */
export class Libp2pMesh implements Mesh {
  readonly peerId: PeerId;
  readonly joined: Promise<void>;
  readonly #parts: Libp2pMeshParts;
  readonly #table = new PeerTable();
  readonly #dialer: Dialer;
  readonly #gossip: Gossip;
  readonly #listeners = new Set<(event: MeshEvent) => void>();
  readonly #accepts = new Map<MeshProtocol, Accept>();
  readonly #dials = new Map<PeerId, Promise<void>>();
  /** Where a peer was dialled last with success, or was said to be by whoever asked to dial it. */
  readonly #seenAt = new Map<PeerId, readonly string[]>();
  readonly #closing = new AbortController();
  readonly #join = Promise.withResolvers<void>();
  #closed: Promise<void> | undefined;

  constructor(parts: Libp2pMeshParts) {
    const { host, protocols, counters } = this.#parts = parts;
    this.peerId = parts.self;
    this.joined = this.#join.promise;
    this.#dialer = new Dialer(host.dial, localSubnets);
    const isAdmitted = (peer: PeerId) => this.#table.has(peer);
    this.#gossip = new Gossip(host.libp2p.services.gossip, protocols.gossip, isAdmitted, counters);
  }

  async start(): Promise<void> {
    const { host: { libp2p }, admission, protocols } = this.#parts;
    libp2p.addEventListener("connection:open", ({ detail }) => admission.opened(detail));
    libp2p.addEventListener("connection:close", ({ detail }) => this.#connectionClosed(detail));
    await libp2p.handle(
      protocols.admit,
      (stream, connection) => admission.accept(stream, connection),
      streamOptions,
    );
    for (const protocol of ["exchange", "sync"] as const) {
      const take = (stream: Stream, connection: Connection) =>
        this.#takeStream(protocol, stream, connection);
      await libp2p.handle(protocols[protocol], take, streamOptions);
    }
    await libp2p.start();
    this.#gossip.start();
  }

  multiaddrs(): string[] {
    return this.addresses().map((address) => `${address}/p2p/${this.peerId}`);
  }

  addresses(): string[] {
    const { options, host } = this.#parts;
    if (options.announce.length > 0) return [...options.announce];
    const bound = host.libp2p.getMultiaddrs().map((address) =>
      address.toString().replace(/\/p2p\/[^/]+$/, "")
    );
    return announceFilter([...new Set(bound)]);
  }

  connectedPeers(): ConnectedPeer[] {
    return this.#table.peers().map((peer) => {
      const connections = this.#table.connectionsOf(peer);
      return {
        peer,
        addresses: connections.map(({ remoteAddr }) => remoteAddr.toString()),
        isRelayed: connections.every(({ direct }) => !direct),
        direction: connections[0].direction,
      };
    });
  }

  isConnected(peer: PeerId): boolean {
    return this.#table.has(peer);
  }

  subscribe(listener: (event: MeshEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async connect(peer: PeerId, addresses: readonly string[], signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.isConnected(peer)) return;
    let dial = this.#dials.get(peer);
    if (!dial) {
      const tried = addresses.length > 0 ? addresses : this.#seenAt.get(peer) ?? [];
      dial = this.#dial(peer, tried).finally(() => this.#dials.delete(peer));
      dial.catch(() => {});
      this.#dials.set(peer, dial);
    }
    await raceSignal(dial, signal);
  }

  async openStream(
    peer: PeerId,
    protocol: MeshProtocol,
    signal: AbortSignal,
  ): Promise<ByteStream> {
    const connection = this.#table.best(peer);
    if (!connection) throw unreachable(peer, "there is no connection");
    try {
      const name = this.#parts.protocols[protocol];
      const stream = await connection.newStream(name, { ...streamOptions, signal });
      return new MeshStream(stream, connection);
    } catch (error) {
      throw unreachable(peer, messageOf(error), error);
    }
  }

  handle(protocol: MeshProtocol, accept: Accept): void {
    this.#accepts.set(protocol, accept);
  }

  async publish(bytes: Uint8Array): Promise<void> {
    await this.#gossip.publish(bytes);
  }

  onGossip(validate: Parameters<Mesh["onGossip"]>[0]): void {
    this.#gossip.onMessage(validate);
  }

  async disconnect(peer: PeerId): Promise<void> {
    this.#seenAt.delete(peer);
    const closes = this.#table.connectionsOf(peer).map((connection) =>
      connection.close().catch((error) => connection.abort(error))
    );
    await Promise.all(closes);
  }

  counters(): Readonly<Record<string, number>> {
    return this.#parts.counters.snapshot();
  }

  isAlone(): boolean {
    return this.#table.peers().length === 0;
  }

  close(): Promise<void> {
    this.#closing.abort(new OtelaError("node_stopping", "Cannot dial as the mesh is closing"));
    return this.#closed ??= Promise.resolve(this.#parts.host.libp2p.stop());
  }

  /** Called by admission. */
  admitted(connection: Connection, peer: PeerId): void {
    if (connection.direction === "outbound") {
      this.#remember(peer, [connection.remoteAddr.toString()]);
    }
    if (!this.#table.add(peer, connection)) return;
    this.#emit({ type: "connected", peer, isRelayed: !connection.direct });
    this.#join.resolve();
  }

  async #dial(peer: PeerId, addresses: readonly string[]): Promise<void> {
    const { counters, admission } = this.#parts;
    counters.add("dials");
    if (addresses.length > 0) this.#remember(peer, addresses);
    try {
      const connection = await this.#dialer.dial(peer, addresses, this.#closing.signal);
      await admission.settled(connection);
    } catch (error) {
      counters.add("dials_failed");
      const isRefused = error instanceof OtelaError && error.fields.isRefused === true;
      if (!this.isConnected(peer)) this.#emit({ type: "dialFailed", peer, isRefused });
      throw error;
    }
  }

  #connectionClosed(connection: Connection): void {
    this.#parts.admission.closed(connection);
    const peer = parsePeerId(connection.remotePeer.toString());
    if (!this.#table.remove(peer, connection)) return;
    this.#emit({ type: "disconnected", peer });
    if (this.#closing.signal.aborted || !this.#seenAt.has(peer)) return;
    // Once and at once: a killed process refuses, which says more than silence. Whoever needs more asks.
    this.connect(peer, [], this.#closing.signal).catch(() => {});
  }

  #takeStream(protocol: MeshProtocol, stream: Stream, connection: Connection): void {
    const accept = this.#accepts.get(protocol);
    if (accept && this.#parts.admission.isAdmitted(connection)) {
      const peer = parsePeerId(connection.remotePeer.toString());
      return accept(peer, new MeshStream(stream, connection));
    }
    this.#parts.counters.add("streams_refused");
    stream.abort(new Error("The connection is not admitted, or nobody serves this protocol"));
  }

  #remember(peer: PeerId, addresses: readonly string[]): void {
    this.#seenAt.delete(peer);
    this.#seenAt.set(peer, addresses);
    if (this.#seenAt.size <= seenPeersMax) return;
    for (const oldest of this.#seenAt.keys()) {
      if (this.isConnected(oldest)) continue;
      this.#seenAt.delete(oldest);
      return;
    }
  }

  #emit(event: MeshEvent): void {
    for (const listener of [...this.#listeners]) listener(event);
  }
}

async function raceSignal<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

function unreachable(peer: PeerId, what: string, cause?: unknown): OtelaError {
  return new OtelaError(
    "peer_unreachable",
    `Cannot open a stream to ${peer} as it must be connected and willing: ${what}`,
    { cause },
  );
}
