// Which services does this node offer now?
import { OtelaError } from "../base/errors.ts";
import type { Clock, Log } from "../base/ports.ts";
import type { ServiceConfig } from "../config/node_config.ts";
import type { EnginePool } from "../engine/engine_pool.ts";
import type { EngineClaim, ServiceClaim } from "../registry/claim.ts";
import { claimBounds } from "../registry/decode_claim.ts";
import { boundServiceClaims, identityGroupsOf } from "./service_claim.ts";
import type { ServicePhase } from "./service_machine.ts";
import { ServiceRunner } from "./service_runner.ts";
import { createUpstream, type ServiceUpstream, type UpstreamLimits } from "./upstream.ts";

/** One service as an operator sees it. */
export type ServiceStatus = {
  readonly name: string;
  /** URL of the engine, or `unix:PATH`. */
  readonly address: string;
  readonly phase: ServicePhase;
  /** As advertised; empty when it is not. */
  readonly identityGroups: readonly string[];
  readonly engine: EngineClaim | null;
  /** Failed checks in a row. */
  readonly failures: number;
  /** Why the last check failed; `null` when it passed. */
  readonly reason: string | null;
};

/** What the set needs of the node. */
export type ServiceSetPorts = {
  readonly clock: Clock;
  readonly log: Log;
  readonly limits: UpstreamLimits;
};

type Entry = { readonly runner: ServiceRunner; readonly upstream: ServiceUpstream };

/** Any number of services of one node: watches each engine and knows what is true of it. */
export class ServiceSet {
  readonly #entries = new Map<string, Entry>();
  readonly #watchers = new Set<() => void>();
  /** Pools of removed services whose last exchanges still run. */
  readonly #closing = new Set<EnginePool>();
  #isClosed = false;

  constructor(private readonly ports: ServiceSetPorts) {}

  /**
   * Begins to watch a service; it is advertised once its engine answers, however long that takes.
   * @param config Checked.
   * @throws {OtelaError} `bad_request` when the name is taken or there are as many as a claim can hold.
   */
  add(config: ServiceConfig): void {
    if (this.#isClosed) {
      throw new OtelaError("node_stopping", "Cannot add a service to a node that stops");
    }
    if (this.#entries.has(config.name)) {
      throw new OtelaError(
        "bad_request",
        `Cannot add the service "${config.name}" as its name must be new: remove the other first`,
      );
    }
    if (this.#entries.size >= claimBounds.servicesMax) {
      throw new OtelaError(
        "bad_request",
        `Cannot add the service "${config.name}" as a node has at most ${claimBounds.servicesMax}`,
      );
    }
    const { clock, log, limits } = this.ports;
    const upstream = createUpstream(config, limits);
    const runner = new ServiceRunner(config, { clock, log, changed: () => this.#changed() });
    this.#entries.set(config.name, { runner, upstream });
    const kept = identityGroupsOf(config.identityGroups, []);
    const dropped = config.identityGroups.filter((group) => !kept.includes(group));
    if (dropped.length > 0) {
      log.warn("service.groups_unusable", { service: config.name, groups: dropped.slice(0, 8) });
    }
    runner.start();
  }

  /**
   * Withdraws a service at once. Its running exchanges end by themselves.
   * @throws {OtelaError} `no_such_service`
   */
  async remove(name: string): Promise<void> {
    const entry = this.#entries.get(name);
    if (!entry) {
      throw new OtelaError(
        "no_such_service",
        `Cannot remove the service "${name.slice(0, 80)}" as this node must have it`,
      );
    }
    this.#entries.delete(name);
    // A pool closes once its last request is over, which may be minutes away, so nobody waits for it here.
    const { pool } = entry.upstream;
    this.#closing.add(pool);
    const forget = () => void this.#closing.delete(pool);
    pool.close().then(forget, forget);
    await entry.runner.close();
  }

  /** Every service, by name. */
  list(): readonly ServiceStatus[] {
    const names = [...this.#entries.keys()].sort();
    return names.map((name) => statusOf(this.#entries.get(name)!.runner));
  }

  /** What the node may say of itself now: services that answer, by name, within a claim's bounds. */
  claims(): readonly ServiceClaim[] {
    return boundServiceClaims(this.#wholeClaims());
  }

  /**
   * Tells of every change of `claims()`, right after it.
   * @returns Ends the subscription.
   */
  subscribe(onChange: () => void): () => void {
    this.#watchers.add(onChange);
    return () => void this.#watchers.delete(onChange);
  }

  /** How a service is called, also while its checks fail: what an engine answers is better than a guess. */
  upstreamOf(name: string): ServiceUpstream | undefined {
    return this.#entries.get(name)?.upstream;
  }

  /** Connections to engines, and requests that wait for one. */
  poolCounts(): { connections: number; waiting: number } {
    let [connections, waiting] = [0, 0];
    for (const { upstream: { pool } } of this.#entries.values()) {
      connections += pool.counts.connections;
      waiting += pool.counts.waiting;
    }
    return { connections, waiting };
  }

  /** Ends all checks and connections, running exchanges included. Nobody is told any more. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#watchers.clear();
    const entries = [...this.#entries.values()];
    this.#entries.clear();
    const pools = [...entries.map(({ upstream }) => upstream.pool), ...this.#closing];
    await Promise.all([
      ...entries.map(({ runner }) => runner.close()),
      ...pools.map((pool) => pool.destroy()),
    ]);
  }

  #wholeClaims(): readonly ServiceClaim[] {
    const claims = [...this.#entries.values()].map(({ runner }) => runner.claim);
    return claims.filter((claim) => claim !== null);
  }

  #changed(): void {
    const found = countGroups(this.#wholeClaims());
    const claimed = countGroups(this.claims());
    if (claimed < found) this.ports.log.warn("service.groups_cut", { found, claimed });
    for (const watcher of [...this.#watchers]) watcher();
  }
}

function countGroups(claims: readonly ServiceClaim[]): number {
  return claims.reduce((sum, claim) => sum + claim.identityGroups.length, 0);
}

function statusOf({ config, state }: ServiceRunner): ServiceStatus {
  return {
    name: config.name,
    address: config.socketPath === null ? config.url : `unix:${config.socketPath}`,
    phase: state.phase,
    identityGroups: state.advertised?.identityGroups ?? [],
    engine: state.advertised?.engine ?? null,
    failures: Math.max(state.checkFailures, state.listFailures),
    reason: state.reason,
  };
}
