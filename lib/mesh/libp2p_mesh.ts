// How does libp2p carry what a node asks of its mesh?
import type { Connection, Stream } from "@libp2p/interface";
import { messageOf, OtelaError } from "../base/errors.ts";
import { parsePeerId, type PeerId } from "../base/peer_id.ts";
import type { ByteStream } from "../base/byte_stream.ts";
import type { Admission } from "./admission.ts";
import { announceFilter, unannouncedNetworks } from "./announce_filter.ts";
import { Bootstrap } from "./bootstrap.ts";
import { BootstrapFileKeeper } from "./bootstrap_file.ts";
import { resolveBootstrap } from "./bootstrap_resolve.ts";
import { Dialer } from "./dialer.ts";
import { Directory } from "./directory.ts";
import { Gossip } from "./gossip.ts";
import type { Host } from "./host.ts";
import { protocolStreamsMax } from "./host_limits.ts";
import { localSubnets } from "./local_subnets.ts";
import type { MeshCounters } from "./mesh_counters.ts";
import type { MeshProtocols } from "./mesh_protocols.ts";
import { MeshStream } from "./mesh_stream.ts";
import { PeerDials } from "./peer_dials.ts";
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

type Accept = Parameters<Mesh["handle"]>[1];

/** Built by `startMesh`. */
export class Libp2pMesh implements Mesh {
  readonly peerId: PeerId;
  readonly joined: Promise<void>;
  readonly #parts: Libp2pMeshParts;
  readonly #table = new PeerTable();
  readonly #dials: PeerDials;
  readonly #directory: Directory;
  readonly #gossip: Gossip;
  readonly #bootstrap: Bootstrap;
  readonly #bootstrapFile: BootstrapFileKeeper | undefined;
  readonly #listeners = new Set<(event: MeshEvent) => void>();
  readonly #accepts = new Map<MeshProtocol, Accept>();
  readonly #closing = new AbortController();
  readonly #join = Promise.withResolvers<void>();
  #closed: Promise<void> | undefined;

  constructor(parts: Libp2pMeshParts) {
    const { host, protocols, counters, options } = this.#parts = parts;
    this.peerId = parts.self;
    this.joined = this.#join.promise;
    const isAdmitted = (peer: PeerId) => this.#table.has(peer);
    this.#directory = new Directory(host.libp2p, options.network);
    this.#dials = new PeerDials({
      self: parts.self,
      dialer: new Dialer(host.dial, localSubnets),
      settled: (connection) => parts.admission.settled(connection),
      isConnected: isAdmitted,
      counters,
      locate: (peer) => this.#directory.locate(peer),
      failed: (peer, isRefused) => this.#emit({ type: "dialFailed", peer, isRefused }),
      closing: this.#closing.signal,
    });
    this.#gossip = new Gossip(host.libp2p.services.gossip, protocols.gossip, isAdmitted, counters);
    this.#bootstrap = new Bootstrap({
      ...options,
      entries: options.bootstrap,
      self: this.peerId,
      resolve: (source) =>
        source.kind === "dht" ? this.#directory.heads() : resolveBootstrap(source),
      dial: (target) => this.#dials.connectTarget(target),
      isConnected: (peer) => this.#table.has(peer as PeerId),
    });
    this.#bootstrapFile = options.bootstrapWrite
      ? new BootstrapFileKeeper(options.bootstrapWrite, this.peerId, options.log)
      : undefined;
  }

  async start(): Promise<void> {
    const { host: { libp2p }, admission, protocols, options } = this.#parts;
    libp2p.addEventListener("connection:open", ({ detail }) => admission.opened(detail));
    libp2p.addEventListener("connection:close", ({ detail }) => this.#connectionClosed(detail));
    await libp2p.handle(
      protocols.admit,
      (stream, connection) => admission.accept(stream, connection),
      streamOptions,
    );
    for (const protocol of ["exchange", "probe", "sync"] as const) {
      const take = (stream: Stream, connection: Connection) =>
        this.#takeStream(protocol, stream, connection);
      await libp2p.handle(protocols[protocol], take, streamOptions);
    }
    await libp2p.start();
    this.#gossip.start();
    this.#bootstrap.start();
    this.#bootstrapFile?.start(this.multiaddrs());
    if (options.role !== "worker") void this.#announceOnceJoined();
  }

  multiaddrs(): string[] {
    return this.addresses().map((address) => `${address}/p2p/${this.peerId}`);
  }

  addresses(): string[] {
    const { options: { announce, announceFilter: networks }, host } = this.#parts;
    const bound = host.libp2p.getMultiaddrs().map((address) =>
      address.toString().replace(/\/p2p\/[^/]+$/, "")
    );
    const found = announceFilter(bound, networks ?? unannouncedNetworks, announce.length > 0);
    return [...new Set([...announce, ...found])];
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
    await this.#dials.connect(peer, addresses, signal);
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
    this.#dials.forget(peer);
    await Promise.all(this.#table.connectionsOf(peer).map(closeConnection));
  }

  counters(): Readonly<Record<string, number>> {
    return this.#parts.counters.snapshot();
  }

  isAlone(): boolean {
    return this.#table.peers().length === 0 && this.#bootstrap.wasAllTried;
  }

  close(): Promise<void> {
    return this.#closed ??= this.#close();
  }

  async #close(): Promise<void> {
    this.#closing.abort(new OtelaError("node_stopping", "Cannot dial as the mesh is closing"));
    this.#bootstrap.stop();
    await this.#bootstrapFile?.stop();
    // Before libp2p stops: it closes connections and listeners at once, and then waits out a deadline.
    const { libp2p } = this.#parts.host;
    await Promise.all(libp2p.getConnections().map(closeConnection));
    await libp2p.stop();
  }

  /** Called by admission. */
  admitted(connection: Connection, peer: PeerId): void {
    if (connection.direction === "outbound") {
      this.#dials.remember(peer, [connection.remoteAddr.toString()]);
    }
    if (!this.#table.add(peer, connection)) return;
    this.#emit({ type: "connected", peer, isRelayed: !connection.direct });
    this.#join.resolve();
    this.#bootstrap.wake();
  }

  async #announceOnceJoined(): Promise<void> {
    await this.joined;
    await this.#directory.announce().catch((error) =>
      this.#parts.options.log.debug("dht.announce_failed", { error: messageOf(error) })
    );
  }

  #connectionClosed(connection: Connection): void {
    this.#parts.admission.closed(connection);
    const peer = parsePeerId(connection.remotePeer.toString());
    if (!this.#table.remove(peer, connection)) return;
    this.#emit({ type: "disconnected", peer });
    this.#bootstrap.wake();
    void this.#dials.redial(peer);
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

  #emit(event: MeshEvent): void {
    for (const listener of [...this.#listeners]) listener(event);
  }
}

async function closeConnection(connection: Connection): Promise<void> {
  await connection.close().catch((error) => connection.abort(error));
}

function unreachable(peer: PeerId, what: string, cause?: unknown): OtelaError {
  return new OtelaError(
    "peer_unreachable",
    `Cannot open a stream to ${peer} as it must be connected and willing: ${what}`,
    { cause },
  );
}
