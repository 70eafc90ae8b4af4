// What does a running node know of its configuration? Each part receives its own frozen slice.
import type { PeerId } from "../base/peer_id.ts";
import type { LogLevel } from "../base/ports.ts";
import type { Bytes, Ms } from "../base/units.ts";

/** What the node is for; the same words as in a claim. */
export type ConfiguredRole = "head" | "worker" | "relay";

/** `standalone` has no bootstrap, `local` finds its first peer on this machine; the others are alike. */
export type ConfiguredMode = "standalone" | "local" | "node" | "full";

export type NetworkConfig = {
  readonly name: string;
  /** `null` in an open mesh. Never shown. */
  readonly secret: string | null;
};

export type DoorsConfig = {
  /** `null`: all interfaces on a head, loopback elsewhere. */
  readonly httpHost: string | null;
  /** 0 takes any free port. */
  readonly httpPort: number;
  /** A busy port that was asked for ends the start; a busy default port is replaced. */
  readonly httpPortIsExplicit: boolean;
  readonly clientKeysFile: string | null;
  readonly corsOrigins: readonly string[];
};

export type MeshConfig = {
  /** IPv4 and IPv6 addresses to listen on. */
  readonly hosts: readonly string[];
  /** 0 takes any free port. */
  readonly tcpPort: number;
  readonly tcpPortIsExplicit: boolean;
  /** Multiaddrs of the above: `/ip4/0.0.0.0/tcp/43905`. */
  readonly listen: readonly string[];
  /** IP address or host name by which others reach us. */
  readonly publicAddr: string | null;
  /** Multiaddrs announced besides those found. */
  readonly announce: readonly string[];
  /** Networks (CIDR) not announced while another address is left. */
  readonly announceFilter: readonly string[];
  /** Multiaddrs, `dnsaddr://host`, HTTP(S) URLs, `file:/absolute/path`; in order, each once, unchecked. */
  readonly bootstrap: readonly string[];
  /** A head writes its addresses to this file. */
  readonly bootstrapFileWrite: string | null;
  /** PeerIds and owner wallets that are kept out. */
  readonly deny: readonly string[];
  /** By role when not set: 20,000 on heads and relays, 1,000 elsewhere. */
  readonly connectionsMax: number;
};

export type ServiceConfig = {
  readonly name: string;
  /** `http://127.0.0.1:8000`, without a slash at its end; `http://localhost` with `socketPath`. */
  readonly url: string;
  /** Unix socket of the engine; `null` when it listens on a port. */
  readonly socketPath: string | null;
  /** Begins with `/`. */
  readonly healthPath: string;
  readonly healthIntervalMs: Ms;
  /** Failed checks in a row until it is withdrawn. */
  readonly healthFailures: number;
  readonly identityGroups: readonly string[];
  /** API key for the engine. Never shown. */
  readonly upstreamKey: string | null;
  /** Headers for the engine, names in lower case. Never shown. */
  readonly upstreamHeaders: Readonly<Record<string, string>>;
  /** Every peer of the network, or these alone. */
  readonly allow: "network" | readonly PeerId[];
  readonly retry: "safe" | "never";
  /** Exchanges it runs at once; 0 when unknown. */
  readonly capacity: number;
  readonly modelRefreshMs: Ms;
  /** What detection should not decide; `null` where it should. */
  readonly engine: { readonly kind: string | null; readonly continues: boolean | null };
};

export type RoutingConfig = {
  readonly policy: "p2c" | "prefix" | "random" | "round-robin" | "shortest-queue";
  readonly retryEnabled: boolean;
  /** Attempts after the first. */
  readonly retriesMax: number;
  readonly maxResponseBufferBytes: Bytes;
  /** How often a broken stream goes on elsewhere; 0: never. */
  readonly continuationsMax: number;
  /** Services whose streams never go on elsewhere. */
  readonly noContinuation: readonly string[];
  /** Services whose answers are never held back. */
  readonly noHold: readonly string[];
  /** By PeerId; 1 for everybody else. */
  readonly weights: ReadonlyMap<string, number>;
  /** Requests that wait while every worker is full. */
  readonly queueMax: number;
  readonly queueWaitMs: Ms;
  /** Silence in a stream of events that a comment breaks; 0: none does. */
  readonly keepAliveMs: Ms;
};

export type LimitsConfig = {
  readonly body: { readonly scanBytesMax: Bytes; readonly bytesMax: Bytes };
  readonly replayBytesMax: Bytes;
  readonly connectTimeoutMs: Ms;
  readonly headTimeoutMs: Ms;
  readonly idleTimeoutMs: Ms;
  readonly firstTokenTimeoutMs: Ms;
  readonly totalTimeoutMs: Ms;
  readonly bodyTimeoutMs: Ms;
  /** Exchanges that this node runs at once. */
  readonly exchangesMax: number;
  /** From the order to stop until what still runs is cut off. */
  readonly drainMs: Ms;
};

export type RegistryConfig = {
  readonly leaseMs: Ms;
  /** Used in place of `leaseMs` by an ephemeral instance. */
  readonly leaseEphemeralMs: Ms;
  /** Start without the snapshot. */
  readonly cleanslate: boolean;
};

export type LogConfig = {
  readonly level: LogLevel;
  readonly json: boolean;
  /** Which client requests are written down. */
  readonly requests: "all" | "failed" | "none";
};

/** Input of `resolvePlaces`: what the person said of places, `null` where nothing. */
export type StateConfig = {
  readonly root: string | null;
  readonly configDir: string | null;
  readonly instance: string | null;
};

/** The whole configuration, checked and deeply frozen. */
export type NodeConfig = {
  readonly role: ConfiguredRole;
  readonly mode: ConfiguredMode;
  readonly network: NetworkConfig;
  readonly doors: DoorsConfig;
  readonly mesh: MeshConfig;
  readonly services: readonly ServiceConfig[];
  readonly routing: RoutingConfig;
  readonly limits: LimitsConfig;
  readonly registry: RegistryConfig;
  readonly log: LogConfig;
  readonly state: StateConfig;
  readonly labels: Readonly<Record<string, string>>;
};
