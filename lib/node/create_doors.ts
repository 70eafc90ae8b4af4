// What do the doors get to see of the node?
import { randomBytes } from "node:crypto";
import { ClientKeys } from "../access/client_keys.ts";
import { isPeerId } from "../base/peer_id.ts";
import type { Ms } from "../base/units.ts";
import { createAccessLog } from "../gateway/access_log.ts";
import { type ClientDoor, createClientDoor } from "../gateway/client_door.ts";
import { createForwarder } from "../gateway/forward.ts";
import { createOperatorDoor, type NodeStatus, peerRows } from "../gateway/operator_door.ts";
import type { MeshFacts } from "../gateway/ports.ts";
import { requestIds } from "../gateway/request_context.ts";
import type { Forwarder } from "../gateway/target.ts";
import type { Status } from "../membership/status.ts";
import { createNodeMetrics, type NodeMetrics } from "../metrics/node_metrics.ts";
import { AnswerPlaces } from "../routing/answer_places.ts";
import { createSelector } from "../routing/policies/selector.ts";
import { PrefixIndex } from "../routing/prefix_index.ts";
import { RetryBudget } from "../routing/retry_budget.ts";
import type { Candidate } from "../routing/types.ts";
import type { Parts } from "./parts.ts";
import { explainPort } from "./explain_port.ts";
import { servicesPort } from "./services_port.ts";

/** The service that OpenAI's own paths mean, as with the original. */
const openAiService = "llm";

/** The handlers of both doors, and what they share with a program that uses the node without a door. */
export type Doors = {
  readonly clientDoor: ClientDoor;
  readonly operatorDoor: (request: Request) => Promise<Response>;
  readonly forwarder: Forwarder;
  readonly newRequestId: () => string;
};

/** The doors of one node, not yet open. */
export function createDoors(parts: Parts): Doors {
  const { config, log, stop } = parts.options;
  const keys = readKeys(config.doors.clientKeysFile);
  const isOpenDoor = !isLoopbackAddress(parts.httpHost) && keys === null;
  if (isOpenDoor && config.role === "head") {
    log.warn("door.open", { host: parts.httpHost, hint: "client.keys asks clients for a key" });
  }
  const metrics = createMetrics(parts);
  const accessLog = createAccessLog(log, config.log.requests);
  const newRequestId = requestIds(randomBytes(6).toString("hex"));
  const { policy, weights } = config.routing;
  const { book, outliers, admission } = parts;
  const weightOf = (seat: Candidate, nowMs: Ms): number =>
    (weights.size === 0 ? 1 : weights.get(seat.peer) ?? 1) * outliers.share(seat, nowMs);
  const prefixes = new PrefixIndex();
  const forwarder = createForwarder({
    self: parts.registry.self,
    clock: parts.clock,
    wallClock: () => Date.now(),
    log,
    view: () => parts.network.routing(),
    selector: createSelector(policy, { book, random: Math.random, weightOf, prefixes }),
    selectorName: policy,
    weightOf,
    book,
    outliers,
    budget: new RetryBudget(),
    admission,
    deadlines: parts.deadlines,
    answerPlaces: new AnswerPlaces(),
    exchanger: parts.client,
    meter: metrics.meter,
    accessLog,
    sweep: parts.sweep,
    limits: {
      scanBytesMax: config.limits.body.scanBytesMax,
      bytesMax: config.limits.body.bytesMax,
      replayBytesMax: Math.max(config.limits.replayBytesMax, config.limits.body.scanBytesMax),
      holdBytesMax: config.routing.maxResponseBufferBytes,
      retry: {
        isEnabled: config.routing.retryEnabled,
        retriesMax: config.routing.retriesMax,
      },
      noContinuation: new Set(config.routing.noContinuation),
      noHold: new Set(config.routing.noHold),
      continuationsMax: config.routing.continuationsMax,
      headTimeoutMs: config.limits.headTimeoutMs,
      firstTokenTimeoutMs: config.limits.firstTokenTimeoutMs,
      idleTimeoutMs: config.limits.idleTimeoutMs,
      totalTimeoutMs: config.limits.totalTimeoutMs,
      bodyTimeoutMs: config.limits.bodyTimeoutMs,
      keepAliveMs: config.routing.keepAliveMs,
    },
  });
  const clientDoor = createClientDoor({
    config: {
      corsOrigins: config.doors.corsOrigins,
      isRedacted: isOpenDoor && config.role === "head",
      openAiService,
    },
    clock: parts.clock,
    wallClock: () => Date.now(),
    log,
    accessLog,
    keys,
    forwarder,
    metrics,
    newRequestId,
    view: () => parts.network.routing(),
    table: () => parts.network.table(),
    onChange: (listener) => parts.network.subscribe(listener),
    mesh: () => meshFacts(parts),
    readiness: () => parts.readiness(),
  });
  const operatorDoor = createOperatorDoor({
    log,
    newRequestId,
    status: () => statusOf(parts),
    services: servicesPort(parts.services),
    explain: explainPort(parts, policy, { book, outliers, weightOf, isFull: admission.isFull }),
    peers: () => peerRows(parts.network.table(), parts.clock.nowMs()),
    stop,
  });
  return { clientDoor, operatorDoor, forwarder, newRequestId };
}

/** Only this host can come to it. */
function isLoopbackAddress(host: string): boolean {
  return host === "localhost" || host === "::1" || host.startsWith("127.");
}

function readKeys(file: string | null): ClientKeys | null {
  return file === null ? null : ClientKeys.parse(Deno.readTextFileSync(file), file);
}

function createMetrics(parts: Parts): NodeMetrics {
  const { config, version } = parts.options;
  const startedAtUnixS = Date.now() / 1_000;
  return createNodeMetrics({
    clock: parts.clock,
    gate: {
      hasService: (name) => parts.network.wasClaimed(name),
      hasWorker: (worker) => isPeerId(worker) && parts.registry.entries.has(worker),
    },
    sources: {
      build: { version: version.otela, role: config.role },
      process: () => ({ residentBytes: Deno.memoryUsage().rss, startedAtUnixS }),
      registry: () => ({
        claims: parts.registry.entries.size,
        claimBytes: claimBytes(parts),
        refusals: parts.registryDriver.refusals,
      }),
      mesh: () => ({
        connections: parts.mesh.connectedPeers().length,
        refusals: parts.mesh.counters(),
      }),
      membership: () => ({ refusals: parts.memberDriver.refusals }),
      peers: () => peersByStatus(parts),
      lanes: () => {
        const [to, from] = [parts.pool.counts(), parts.server.counts()];
        return {
          open: to.lanes + from.lanes,
          exchanges: to.exchanges + from.exchanges,
          unsentBytes: to.unsentBytes + from.unsentBytes,
          windowBytes: parts.budget.reservedBytes,
        };
      },
      pool: () => ({ calls: parts.calls.openCount, ...parts.services.poolCounts() }),
      routing: () => ({
        waiting: parts.admission.count,
        restingEngines: parts.outliers.outCount(),
      }),
    },
  });
}

function claimBytes(parts: Parts): number {
  const { registry, clock } = parts;
  let bytes = 0;
  for (const owner of registry.entries.keys()) {
    bytes += registry.envelopeOf(owner, clock.nowMs())?.length ?? 0;
  }
  return bytes;
}

function peersByStatus(parts: Parts): Record<Status, number> {
  const counts = { alive: 0, suspect: 0, left: 0 };
  for (const peer of parts.registry.entries.keys()) {
    if (peer === parts.registry.self) counts.alive += 1;
    else counts[parts.members.statusOf(peer)] += 1;
  }
  return counts;
}

function meshFacts(parts: Parts): MeshFacts {
  const connections = parts.mesh.connectedPeers();
  const heads = [...parts.registry.entries.values()]
    .filter(({ claim }) => claim.role !== "worker")
    .flatMap(({ owner, claim }) => claim.addresses.map((address) => `${address}/p2p/${owner}`));
  return {
    connections: connections.map(({ peer, addresses, isRelayed }) => ({
      peer,
      addresses,
      isLimited: isRelayed,
    })),
    bootstraps: [...new Set([...parts.mesh.multiaddrs(), ...heads])],
  };
}

function statusOf(parts: Parts): NodeStatus {
  const { config, version } = parts.options;
  return {
    peerId: parts.registry.self,
    role: config.role,
    version: version.otela,
    http: [parts.http],
    multiaddrs: parts.mesh.multiaddrs(),
    uptimeMs: Math.round(parts.clock.nowMs() - parts.startedAtMs),
    network: config.network.name,
    connections: parts.mesh.connectedPeers().length,
    peers: peersByStatus(parts),
    running: {
      out: parts.pool.counts().exchanges,
      in: parts.server.counts().exchanges,
      engines: parts.calls.openCount,
    },
    services: servicesPort(parts.services).list(),
    registry: { claims: parts.registry.entries.size, claimBytes: claimBytes(parts) },
    warnings: warningsOf(parts),
  };
}

function warningsOf(parts: Parts): string[] {
  const warnings: string[] = [];
  if (parts.mesh.isAlone() && parts.options.config.mesh.bootstrap.length > 0) {
    warnings.push(whyAlone(parts.mesh.counters()));
  }
  for (const { name, phase, reason } of parts.services.list()) {
    if (reason !== null && phase !== "ready") warnings.push(`Service "${name}": ${reason}`);
  }
  return warnings;
}

/** Who answers and refuses has told us more than who does not answer. */
function whyAlone(counts: Readonly<Record<string, number>>): string {
  if (counts.refused_other_network > 0) {
    return "A bootstrap is of another network, so this node is alone: network.name must be the same there and here";
  }
  if (counts.refused_by_peer + counts.refused_wrong_secret > 0) {
    return "A bootstrap refuses this node, which is alone: network.secret must be the same there and here";
  }
  return "No bootstrap answers: this node is alone and keeps trying";
}
