// Which parts of a node may the pieces that join them see?
import type { OtelaError } from "../base/errors.ts";
import type { Clock, Log } from "../base/ports.ts";
import type { Ms } from "../base/units.ts";
import type { HelperThreads } from "../config/helper_threads.ts";
import type { NodeConfig } from "../config/node_config.ts";
import type { Places } from "../config/places.ts";
import type { VersionFacts } from "../config/thread_messages.ts";
import type { EngineCalls } from "../exchange/engine_calls.ts";
import type { ExchangeClient } from "../exchange/exchange_client.ts";
import type { ExchangeServer } from "../exchange/exchange_server.ts";
import type { LanePool } from "../exchange/lane_pool.ts";
import type { ClientSweep } from "../gateway/client_sweep.ts";
import type { ForwardAdmission } from "../gateway/forward_admission.ts";
import type { ForwardDeadlines } from "../gateway/forward_deadlines.ts";
import type { Readiness } from "../gateway/ports.ts";
import type { Identity } from "../identity/identity.ts";
import type { WindowBudget } from "../lane/window.ts";
import type { Membership } from "../membership/membership.ts";
import type { Mesh } from "../mesh/types.ts";
import type { Registry } from "../registry/registry.ts";
import type { LoadBook } from "../routing/load_book.ts";
import type { Outliers } from "../routing/outliers.ts";
import type { ServiceSet } from "../service/service_set.ts";
import type { ClaimSource } from "./claim_source.ts";
import type { MemberDriver } from "./member_driver.ts";
import type { NetworkView } from "./network_view.ts";
import type { RegistryDriver } from "./registry_driver.ts";
import type { SnapshotKeeper } from "./snapshot_keeper.ts";
import type { SyncDriver } from "./sync_driver.ts";

/** What the parts are made from. */
export type NodePartsOptions = {
  readonly config: NodeConfig;
  readonly places: Places;
  readonly version: VersionFacts;
  readonly identity: Identity;
  /** Settles once Automerge can be used in this thread. */
  readonly automerge: Promise<WebAssembly.Module>;
  readonly helpers: HelperThreads;
  /** Of this start, kept already. */
  readonly epoch: number;
  readonly log: Log;
  /** The node cannot go on. */
  readonly mustEnd: (error: OtelaError) => void;
  /** The operator asked to stop. */
  readonly stop: () => void;
};

/** The parts of one node; `NodeParts` makes them. */
export type Parts = {
  readonly options: NodePartsOptions;
  readonly clock: Clock;
  readonly startedAtMs: Ms;
  readonly mesh: Mesh;
  readonly members: Membership;
  readonly memberDriver: MemberDriver;
  readonly registry: Registry;
  readonly registryDriver: RegistryDriver;
  readonly syncs: SyncDriver;
  readonly snapshots: SnapshotKeeper;
  readonly claims: ClaimSource;
  readonly network: NetworkView;
  readonly services: ServiceSet;
  readonly book: LoadBook;
  readonly budget: WindowBudget;
  readonly outliers: Outliers;
  readonly deadlines: ForwardDeadlines;
  readonly admission: ForwardAdmission;
  readonly sweep: ClientSweep;
  readonly calls: EngineCalls;
  readonly pool: LanePool;
  readonly server: ExchangeServer;
  readonly client: ExchangeClient;
  readonly httpHost: string;
  /** URL of the client door; empty until it is open. */
  readonly http: string;
  readiness(): Readiness;
};
