// How is libp2p set up for this mesh, and why not as it comes?
import { privateKeyFromProtobuf } from "@libp2p/crypto/keys";
import { type GossipSub, gossipsub } from "@libp2p/gossipsub";
import { type Identify, identify } from "@libp2p/identify";
import { type Connection, FaultTolerance, type Libp2p } from "@libp2p/interface";
import { type KadDHT, kadDHT, passthroughMapper } from "@libp2p/kad-dht";
import type { ICryptoInterface } from "@libp2p/noise";
import { type Ping, ping } from "@libp2p/ping";
import { createHash } from "node:crypto";
import { createLibp2p } from "libp2p";
import type { Multiaddr } from "@multiformats/multiaddr";
import { hourMs, minuteMs } from "../base/units.ts";
import type { Role } from "../registry/claim.ts";
import { type AdmissionGate, admittedComponents } from "./admitted_components.ts";
import { DenoTcp } from "./deno_tcp.ts";
import * as limits from "./host_limits.ts";
import { boundKnownPeers } from "./known_peers.ts";
import { listenPlan } from "./listen_plan.ts";
import type { MeshProtocols } from "./mesh_protocols.ts";
import { patientNoise } from "./patient_noise.ts";
import { silentLibp2pLog } from "./silent_libp2p_log.ts";
import { thriftyYamux } from "./thrifty_yamux.ts";

export type HostOptions = {
  /** libp2p's protobuf of an Ed25519 or RSA private key. */
  readonly privateKeyProtobuf: Uint8Array;
  readonly role: Role;
  readonly protocols: MeshProtocols;
  readonly crypto: ICryptoInterface;
  /** Multiaddrs to listen on. */
  readonly listen: readonly string[];
  readonly connectionsMax: number;
  readonly gate: AdmissionGate;
  readonly isDenied: (peer: string) => boolean;
};

type HostServices = {
  readonly identify: Identify;
  readonly ping: Ping;
  readonly dht: KadDHT;
  readonly gossip: GossipSub;
};

export type Host = {
  readonly libp2p: Libp2p<HostServices>;
  /** One address, past libp2p's queue, which tries the addresses of a peer one at a time. */
  dial(address: Multiaddr, signal: AbortSignal): Promise<Connection>;
};

/** libp2p with our overrides, not yet started, so that its owner can listen for events first. */
export async function createHost(options: HostOptions): Promise<Host> {
  const { role, protocols, gate, isDenied } = options;
  let dial!: Host["dial"];
  const libp2p = await createLibp2p<HostServices>({
    start: false,
    privateKey: privateKeyFromProtobuf(options.privateKeyProtobuf),
    nodeInfo: { name: "otela", userAgent: "otela" },
    logger: silentLibp2pLog(),
    addresses: { listen: listenPlan(options.listen) },
    transports: [(components) => {
      const transport = new DenoTcp(components);
      dial = (address, signal) =>
        transport.dial(address, { signal, upgrader: components.upgrader });
      return transport;
    }],
    connectionEncrypters: [patientNoise({ crypto: options.crypto })],
    streamMuxers: [thriftyYamux({
      // Not to keep the connection alive, membership probes do that; but the first ping measures the
      // round trip, without which yamux never lets a window grow beyond the initial one.
      enableKeepAlive: true,
      keepAliveInterval: hourMs,
      maxInboundStreams: limits.connectionStreamsMax,
      maxOutboundStreams: limits.connectionStreamsMax,
      streamOptions: {
        initialStreamWindowSize: limits.streamWindowInitial,
        maxStreamWindowSize: limits.streamWindowMax,
        maxWriteBufferLength: limits.streamUnsentMax,
        maxReadBufferLength: limits.streamUnreadMax,
        // Lanes are silent for hours and stay.
        inactivityTimeout: Infinity,
      },
    })],
    connectionManager: {
      maxConnections: options.connectionsMax,
      inboundConnectionThreshold: limits.inboundPerSecondMax,
      maxIncomingPendingConnections: limits.inboundPendingMax,
      maxDialQueueLength: limits.dialQueueMax,
      maxPeerAddrsToDial: limits.addressesMax,
      addressDialTimeout: limits.addressDialMs,
      // We redial ourselves, where we can say why.
      reconnectRetries: 0,
    },
    // Its ping ends connections on which it cannot open a stream; membership replaces it.
    connectionMonitor: { enabled: false },
    // `startMesh` looks itself whether anything is bound and says what failed.
    transportManager: { faultTolerance: FaultTolerance.FATAL_ALL },
    connectionGater: {
      denyDialPeer: (peer) => isDenied(peer.toString()),
      denyInboundEncryptedConnection: (peer) => isDenied(peer.toString()),
      denyOutboundEncryptedConnection: (peer) => isDenied(peer.toString()),
    },
    services: {
      identify: identify(),
      // The DHT asks old contacts with it whether they are still there.
      ping: ping(),
      dht: (components): KadDHT =>
        kadDHT({
          protocol: protocols.kad,
          clientMode: role === "worker",
          // The default drops private addresses, which are all a cluster has.
          peerInfoMapper: passthroughMapper,
          // A mesh whose DHT is empty still works: asking it must not throw.
          allowQueryWithZeroPeers: true,
          maxInboundStreams: limits.protocolStreamsMax,
          maxOutboundStreams: limits.protocolStreamsMax,
        })(admittedComponents(components, gate)),
      gossip: (components): GossipSub =>
        gossipsub({
          // Envelopes are signed by their owners; a second signature proves nothing more.
          globalSignaturePolicy: "StrictNoSign",
          // Equal envelopes are one message, whoever sends them.
          msgIdFn: ({ data }) => createHash("sha256").update(data).digest(),
          allowedTopics: [protocols.gossip],
          // The first node of a mesh speaks to nobody: not an error.
          allowPublishToZeroTopicPeers: true,
          ignoreDuplicatePublishError: true,
          fallbackToFloodsub: false,
          // Who has it tells three, not six, and nobody tells all it knows: half of the traffic was claims that
          // the receiver had. What a loss leaves out is offered again each second, and sync finds the rest.
          floodPublish: false,
          // Nor may it become four, as graft meets graft: that was a fifth of the traffic, and of the time until
          // all of 128 nodes of one process knew.
          D: limits.gossipDegree,
          Dlo: limits.gossipDegree - 1,
          Dhi: limits.gossipDegree,
          Dlazy: limits.gossipDegree,
          Dscore: 1,
          // Below this the note costs about what it saves: each claim was followed by three of them.
          idontwantMinDataSize: limits.gossipNoteMin,
          // A Slurm array behind one NAT, or forty tasks of one machine, are no attack: by default ten peers of one
          // address are shunned, and a head learnt by way of sync, seconds late, what its workers said (C049).
          // And who has gone is remembered for an hour by default, whatever its score.
          scoreParams: { IPColocationFactorWeight: 0, retainScore: minuteMs },
          Dout: 1,
          emitSelf: false,
          maxInboundDataLength: limits.gossipFrameMax,
          maxOutboundBufferSize: limits.gossipUnsentMax,
        })(admittedComponents(components, gate)),
    },
  });
  boundKnownPeers(libp2p);
  return { libp2p, dial };
}
