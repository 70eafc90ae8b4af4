// Which parts does a node have, and how do they hear of each other?
import type { PeerId } from "../base/peer_id.ts";
import { type Ms, secondMs } from "../base/units.ts";
import { EngineCalls } from "../exchange/engine_calls.ts";
import { ExchangeClient } from "../exchange/exchange_client.ts";
import { ExchangeServer } from "../exchange/exchange_server.ts";
import { LanePool } from "../exchange/lane_pool.ts";
import { LocalExchanger } from "../exchange/local_exchanger.ts";
import type { ClientDoor } from "../gateway/client_door.ts";
import { ClientSweep } from "../gateway/client_sweep.ts";
import { ForwardAdmission } from "../gateway/forward_admission.ts";
import { ForwardDeadlines } from "../gateway/forward_deadlines.ts";
import type { DoorListener } from "../gateway/door_listener.ts";
import type { Connectedness, Readiness } from "../gateway/ports.ts";
import type { Forwarder } from "../gateway/target.ts";
import { WindowBudget } from "../lane/window.ts";
import type { Membership } from "../membership/membership.ts";
import type { Mesh, MeshProtocol } from "../mesh/types.ts";
import type { HardwareClaim } from "../registry/claim.ts";
import type { Registry } from "../registry/registry.ts";
import { LoadBook } from "../routing/load_book.ts";
import { Outliers } from "../routing/outliers.ts";
import { ServiceSet } from "../service/service_set.ts";
import { ClaimSource } from "./claim_source.ts";
import { monotonicClock } from "./clock.ts";
import { createDoors } from "./create_doors.ts";
import { createRegistry } from "./create_registry.ts";
import { drain } from "./drain.ts";
import { driveRegistry } from "./drive_registry.ts";
import { createMembership, driveMembership } from "./drive_membership.ts";
import { listened } from "./listened_stream.ts";
import type { MemberDriver } from "./member_driver.ts";
import { NetworkView } from "./network_view.ts";
import type { RegistryDriver } from "./registry_driver.ts";
import { openMesh } from "./open_mesh.ts";
import type { NodePartsOptions, Parts } from "./parts.ts";
import { type ClaimLoaderHold, sharedClaimLoader } from "./shared_claim_loader.ts";
import { SnapshotKeeper } from "./snapshot_keeper.ts";
import { SyncDriver } from "./sync_driver.ts";
import { wireMesh } from "./wire_mesh.ts";

/** A node that has no bootstrap, or whose bootstraps do not answer, says so after this long at the latest. A guess. */
const settleMsMax: Ms = 3 * secondMs;
/** Goodbyes leave within this, or not at all. */
const farewellMs: Ms = 200;

/** Everything of one node between its lock and its doors. */
export class NodeParts implements Parts {
  readonly clock = monotonicClock;
  readonly startedAtMs: Ms = monotonicClock.nowMs();
  readonly members: Membership;
  readonly book = new LoadBook();
  readonly budget = new WindowBudget();
  readonly outliers = new Outliers();
  readonly deadlines = new ForwardDeadlines(monotonicClock);
  readonly admission: ForwardAdmission;
  readonly sweep: ClientSweep;
  readonly calls: EngineCalls;
  readonly services: ServiceSet;
  readonly registry: Registry;
  readonly registryDriver: RegistryDriver;
  readonly syncs: SyncDriver;
  readonly memberDriver: MemberDriver;
  readonly network: NetworkView;
  readonly pool: LanePool;
  readonly server: ExchangeServer;
  readonly client: ExchangeClient;
  readonly claims: ClaimSource;
  readonly snapshots: SnapshotKeeper;
  readonly httpHost: string;
  readonly clientDoor: ClientDoor;
  readonly operatorDoor: (request: Request) => Promise<Response>;
  readonly forwarder: Forwarder;
  readonly newRequestId: () => string;
  /** As `status` shows it. */
  http = "";
  private readonly loader: ClaimLoaderHold;
  private doors: readonly DoorListener[] = [];
  private isStopping = false;
  private hasDrained = false;
  private closing: Promise<void> | undefined;

  /** Starts the mesh, then everything that lives on it. @throws {OtelaError} As `startMesh`. */
  static async start(options: NodePartsOptions): Promise<NodeParts> {
    const mesh = await openMesh(options);
    try {
      const parts = new NodeParts(options, mesh, await options.automerge);
      await parts.begin();
      return parts;
    } catch (error) {
      await mesh.close();
      throw error;
    }
  }

  private constructor(
    readonly options: NodePartsOptions,
    readonly mesh: Mesh,
    automerge: WebAssembly.Module,
  ) {
    const { config, identity, log } = options;
    const { clock } = this;
    this.sweep = new ClientSweep();
    this.admission = new ForwardAdmission(clock, this.book, config.routing);
    this.calls = new EngineCalls(clock);
    const { exchangesMax } = config.limits;
    const limits = { ...config.limits, connectionsMax: exchangesMax };
    this.services = new ServiceSet({ clock, log, limits });
    const findUpstream = (name: string) => this.services.upstreamOf(name);
    this.loader = sharedClaimLoader.hold({ module: automerge, helpers: options.helpers, log });
    this.registry = createRegistry(options, { clock });
    this.members = createMembership(options, this.registry, clock);
    this.network = new NetworkView({
      registry: this.registry,
      members: this.members,
      ownServices: () => this.services.claims(),
      connectedness: () => this.connectedness(),
      startedAtMs: this.startedAtMs,
    });
    this.registryDriver = driveRegistry(this, this.loader);
    const openStream = (protocol: MeshProtocol) => (peer: PeerId, signal: AbortSignal) =>
      this.openStream(peer, protocol, signal);
    this.syncs = new SyncDriver({
      self: identity.peerId,
      table: this.registry,
      clock,
      log,
      openStream: openStream("sync"),
      arrived: (from, envelopes) => this.registryDriver.arrived(from, envelopes),
    });
    this.memberDriver = driveMembership(this, openStream("probe"));
    const settings = { clock, budget: this.budget, exchangesMax };
    this.pool = new LanePool(openStream("exchange"), settings, (peer) => this.stalled(peer));
    this.server = new ExchangeServer({ settings, calls: this.calls, findUpstream, log });
    this.client = new ExchangeClient({
      self: identity.peerId,
      clock,
      pool: this.pool,
      local: new LocalExchanger(this.calls, findUpstream),
      onLoad: (peer, service, load) => this.book.reported({ peer, service }, load, clock.nowMs()),
    });
    this.claims = new ClaimSource({
      role: config.role,
      labels: config.labels,
      versions: { otela: options.version.otela, deno: options.version.deno },
      addresses: () => mesh.addresses(),
      services: () => this.isStopping ? [] : this.services.claims(),
      state: (claim) => this.registryDriver.claimSet(claim),
    }, clock);
    this.snapshots = new SnapshotKeeper(
      this.registry,
      clock,
      options.places.snapshotFile,
      log,
    );
    this.httpHost = config.doors.httpHost ?? (config.role === "head" ? "0.0.0.0" : "127.0.0.1");
    const doors = createDoors(this);
    this.clientDoor = doors.clientDoor;
    this.operatorDoor = doors.operatorDoor;
    this.forwarder = doors.forwarder;
    this.newRequestId = doors.newRequestId;
  }

  /** The doors are open. */
  doorsOpened(doors: readonly DoorListener[], http: string): void {
    this.doors = doors;
    this.http = http;
  }

  hardwareFound(hardware: HardwareClaim): void {
    this.claims.hardwareFound(hardware);
  }

  /** Settles once the node has joined its mesh or knows that it is alone. */
  async settled(): Promise<void> {
    const deadlineMs = this.clock.nowMs() + settleMsMax;
    while (!this.isSettled && this.clock.nowMs() < deadlineMs) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    if (this.isSettled && !this.mesh.isAlone()) return;
    this.options.log.info("mesh.alone", { bootstraps: this.options.config.mesh.bootstrap.length });
  }

  readiness(): Readiness {
    if (this.isStopping) {
      return { isReady: false, reason: "the node is stopping", isStopping: true };
    }
    if (this.mesh.connectedPeers().length > 0) return { isReady: true, mesh: "joined" };
    if (this.mesh.isAlone()) return { isReady: true, mesh: "alone" };
    return { isReady: false, reason: "the node has not joined its mesh yet" };
  }

  /** Takes nothing new, and waits for what runs. */
  async drain(deadlineMs: Ms): Promise<void> {
    this.isStopping = true;
    this.network.changed();
    this.claims.stateNow();
    this.hasDrained = await drain(this, this.doors, deadlineMs);
  }

  /** Ends everything at once. Idempotent. */
  close(): Promise<void> {
    return this.closing ??= this.closeAll();
  }

  private get isSettled(): boolean {
    return this.mesh.connectedPeers().length > 0 || this.mesh.isAlone();
  }

  private async begin(): Promise<void> {
    wireMesh(this);
    this.services.subscribe(() => {
      this.network.changed();
      this.claims.changed();
    });
    for (const service of this.options.config.services) this.services.add(service);
    if (this.options.config.registry.cleanslate) await this.snapshots.forget();
    else this.registryDriver.restore(await this.snapshots.read());
    this.claims.stateNow();
  }

  private stalled(peer: PeerId): void {
    this.memberDriver.apply({ type: "doubted", peer });
    this.options.log.warn("lane.stalled", { peer });
  }

  private connectedness(): Map<PeerId, Connectedness> {
    return new Map(
      this.mesh.connectedPeers().map(({ peer, isRelayed }) => [
        peer,
        isRelayed ? "limited" : "connected",
      ]),
    );
  }

  private async openStream(peer: PeerId, protocol: MeshProtocol, signal: AbortSignal) {
    if (!this.mesh.isConnected(peer)) {
      const addresses = this.registry.entries.get(peer)?.claim.addresses ?? [];
      await this.mesh.connect(peer, addresses, signal);
    }
    const stream = await this.mesh.openStream(peer, protocol, signal);
    if (protocol === "probe") return stream;
    // What goes out over a lane of ours is a request; its worker is then probed more often.
    const sent = protocol === "exchange"
      ? () => this.memberDriver.noticed(peer, "exchanged")
      : undefined;
    return listened(stream, () => this.memberDriver.noticed(peer, "heard"), sent);
  }

  private async closeAll(): Promise<void> {
    this.isStopping = true;
    this.memberDriver.leave(this.hasDrained ? "drained" : "goodbye");
    if (this.options.places.isEphemeral) this.registryDriver.withdraw();
    if (this.mesh.connectedPeers().length > 0) {
      await new Promise((resolve) => setTimeout(resolve, farewellMs));
    }
    this.claims.close();
    this.memberDriver.close();
    this.sweep.close();
    this.deadlines.close();
    this.admission.close();
    this.pool.close();
    this.server.close();
    this.calls.close();
    await this.snapshots.close();
    this.syncs.close();
    this.registryDriver.close();
    await Promise.allSettled([this.services.close(), this.mesh.close()]);
    this.loader[Symbol.dispose]();
  }
}
