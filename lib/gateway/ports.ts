// What do the doors need from the rest of the node?
import type { ClientKeys } from "../access/client_keys.ts";
import type { Clock, Log } from "../base/ports.ts";
import type { PeerId } from "../base/peer_id.ts";
import type { Ms } from "../base/units.ts";
import type { PeerStatus } from "../membership/status.ts";
import type { Claim } from "../registry/claim.ts";
import type { RoutingView } from "../routing/view.ts";
import type { AccessLog } from "./access_log.ts";
import type { Forwarder } from "./target.ts";

/** How a peer is connected to this node right now. */
export type Connectedness = "connected" | "limited" | "not_connected";

/** One peer as this node sees it. */
export type TableEntry = {
  readonly peer: PeerId;
  readonly claim: Claim;
  readonly status: PeerStatus;
  /** Who says so: this node, those who called it left; empty when the whole mesh holds it for so. */
  readonly seenBy: readonly PeerId[];
  /** `limited`: only over a relay. */
  readonly connectedness: Connectedness;
  /** Monotonic, local: when anything was last received from it; `null` when never. */
  readonly heardAtMs: Ms | null;
};

/** All claims this node holds, its own included. The same object as long as nothing changed. */
export type MeshTable = {
  readonly self: PeerId;
  /** Sorted by peer. */
  readonly entries: readonly TableEntry[];
};

/** Peers of the connection table, whether or not they have claimed anything. */
export type MeshFacts = {
  readonly connections: readonly {
    readonly peer: PeerId;
    readonly addresses: readonly string[];
    readonly isLimited: boolean;
  }[];
  /** Multiaddrs with `/p2p/…` by which others can join through this node or as it did. */
  readonly bootstraps: readonly string[];
};

/** Whether this node can do its work, and if not, why. */
export type Readiness =
  | { readonly isReady: true; readonly mesh: "joined" | "alone" }
  | { readonly isReady: false; readonly reason: string; readonly isStopping?: true };

/** The gateway's slice of the configuration. */
export type ClientDoorConfig = {
  /** Origins whose pages may read answers: `["*"]` for all, `[]` for none, or exact origins. */
  readonly corsOrigins: readonly string[];
  /** Keeps addresses, wallets and hardware out of answers: a head on an open address without keys. */
  readonly isRedacted: boolean;
  /** The service that OpenAI's own paths mean. */
  readonly openAiService: string;
};

/** Everything the client door asks of the node. */
export type ClientDoorPorts = {
  readonly config: ClientDoorConfig;
  readonly clock: Clock;
  /** Milliseconds since the Unix epoch: only for times that people and the OpenAI clients read. */
  readonly wallClock: () => Ms;
  readonly log: Log;
  readonly accessLog: AccessLog;
  /** `null` when everybody may enter. */
  readonly keys: ClientKeys | null;
  readonly forwarder: Forwarder;
  readonly metrics: {
    readonly contentType: string;
    text(): Promise<string>;
    readonly meter: { refused(code: string): void };
  };
  readonly newRequestId: () => string;
  readonly table: () => MeshTable;
  /** Tells of every change of the table, in the turn in which it happens. @returns Ends it. */
  readonly onChange: (listener: () => void) => () => void;
  readonly view: () => RoutingView;
  readonly mesh: () => MeshFacts;
  readonly readiness: () => Readiness;
};
