// Which node stands behind the doors in these tests?
import { deepEqual, equal } from "node:assert/strict";
import { silentLog } from "../../../lib/base/ports.ts";
import { parsePeerId, type PeerId } from "../../../lib/base/peer_id.ts";
import type { AccessRecord } from "../../../lib/gateway/access_log.ts";
import { type ClientDoor, createClientDoor } from "../../../lib/gateway/client_door.ts";
import type { ClientDoorPorts, MeshTable, TableEntry } from "../../../lib/gateway/ports.ts";
import { requestIds } from "../../../lib/gateway/request_context.ts";
import type { RequestContext } from "../../../lib/gateway/request_context.ts";
import type { ForwardTarget } from "../../../lib/gateway/target.ts";
import { responseOf } from "../../../lib/server/plain_answer.ts";
import type { ServerRequest } from "../../../lib/server/types.ts";
import type { Status } from "../../../lib/membership/status.ts";
import { buildRoutingView, type RoutingView } from "../../../lib/routing/view.ts";
import type { Claim, ServiceClaim } from "../../../lib/registry/claim.ts";

/** PeerIds that differ in their last letter. */
export function peer(letter: string): PeerId {
  return parsePeerId(`12D3KooW${"A".repeat(43)}${letter}`);
}

export function service(name: string, ...identityGroups: string[]): ServiceClaim {
  return {
    name,
    identityGroups,
    state: "ready",
    engine: { kind: "vllm", version: "0.9.1", continues: true },
    capacity: 8,
    retry: "safe",
  };
}

export function claim(...services: ServiceClaim[]): Claim {
  return {
    role: "worker",
    addresses: ["/ip4/10.1.2.3/tcp/43905"],
    relays: [],
    services,
    hardware: {
      cpuCount: 64,
      memoryMiB: 1_024,
      gpus: [{ name: "NVIDIA H200", memoryTotalMiB: 143_771, memoryUsedMiB: 10 }],
    },
    labels: { site: "north" },
    wallet: "WaLLet1111",
    versions: { otela: "0.1.0" },
  };
}

export function entry(id: PeerId, of: Claim, status: Status = "alive"): TableEntry {
  return {
    peer: id,
    claim: of,
    status: { status, reason: status === "left" ? "goodbye" : "connected", sinceMs: 1_000 },
    connectedness: status === "left" ? "not_connected" : "connected",
    seenBy: [peer("S")],
    heardAtMs: 4_000,
  };
}

export function tableOf(...entries: TableEntry[]): MeshTable {
  return { self: peer("S"), entries };
}

/** What routing makes of a table. */
export function viewOf(...entries: TableEntry[]): RoutingView {
  const statuses = new Map(entries.map(({ peer, status }) => [peer, status.status]));
  return buildRoutingView({ entries, statusOf: (id) => statuses.get(id) ?? "left" });
}

/** One request as the forwarder got it. */
export type Forwarded = { request: ServerRequest; target: ForwardTarget; context: RequestContext };

export type Fixture = {
  readonly door: ClientDoor;
  readonly forwarded: Forwarded[];
  readonly records: AccessRecord[];
  readonly refused: string[];
  readonly logged: { event: string; fields: unknown }[];
  /** Sends one request as a client at `from` (loopback by default). */
  ask(path: string, init?: RequestInit & { from?: string }): Promise<Response>;
};

/** A client door whose forwarder answers 200 and remembers what it was given. */
export function fixture(
  changes: Partial<Omit<ClientDoorPorts, "config">> & {
    config?: Partial<ClientDoorPorts["config"]>;
  } = {},
): Fixture {
  const forwarded: Forwarded[] = [];
  const records: AccessRecord[] = [];
  const refused: string[] = [];
  const logged: { event: string; fields: unknown }[] = [];
  const { config, ...ports } = changes;
  const door = createClientDoor({
    clock: { nowMs: () => 5_000 },
    wallClock: () => 1_700_000_005_000,
    log: { ...silentLog, error: (event, fields) => void logged.push({ event, fields }) },
    accessLog: { wants: () => true, write: (record) => void records.push(record) },
    keys: null,
    forwarder: {
      forward(request, target, context) {
        forwarded.push({ request, target, context });
        return Promise.resolve(new Response("served", { headers: { "x-computing-node": "w" } }));
      },
    },
    metrics: {
      contentType: "text/plain; version=0.0.4; charset=utf-8",
      text: () => Promise.resolve("otela_up 1\n"),
      meter: { refused: (code) => void refused.push(code) },
    },
    newRequestId: requestIds("test"),
    table: () => tableOf(),
    onChange: () => () => {},
    view: () => viewOf(),
    mesh: () => ({ connections: [], bootstraps: [] }),
    readiness: () => ({ isReady: true, mesh: "joined" }),
    ...ports,
    config: {
      corsOrigins: ["*"],
      isRedacted: false,
      openAiService: "llm",
      ...config,
    },
  });
  return {
    door,
    forwarded,
    records,
    refused,
    logged,
    async ask(path, { from = "127.0.0.1", ...init } = {}) {
      const remoteAddr: Deno.NetAddr = { transport: "tcp", hostname: from, port: 4711 };
      const request = new Request(`http://head.example${path}`, init);
      return responseOf(await door.answer(request, { remoteAddr }));
    },
  };
}

/** The error of an answer, which must have the whole shape of OpenAI's. */
export async function errorOf(
  response: Response,
): Promise<{ code: string; message: string; type: string }> {
  equal(response.headers.get("content-type"), "application/json");
  const { error, ...rest } = await response.json();
  deepEqual(rest, {});
  equal(error.param, null);
  return error;
}
