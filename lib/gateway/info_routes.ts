// What does a node tell about itself and its mesh?
import { Hono } from "hono";
import { OtelaError } from "../base/errors.ts";
import { type Ms, secondMs } from "../base/units.ts";
import { jsonAnswer, textAnswer } from "./json_answer.ts";
import { type ListedModel, listModels } from "./model_list.ts";
import { peerRecord } from "./peer_record.ts";
import type { ClientDoorPorts, MeshTable } from "./ports.ts";

/** How old a table may be when many ask for it: building one of 1,000 peers takes 5 ms. Guess. */
const tableAgeMaxMs: Ms = secondMs;

/**
 * The endpoints that read: none of them changes anything, and all of them answer from memory. They stand
 * off the path of forwarded requests, so hono may route them.
 * @returns Answers a request for a path that belongs to no service; rejects with an `OtelaError`.
 */
export function createInfoRoutes(ports: ClientDoorPorts): (request: Request) => Promise<Response> {
  const models = modelsOfTable(ports);
  const tableText = tableTextOf(ports);
  const app = new Hono({ strict: false });
  const routes: Readonly<Record<string, () => Response | Promise<Response>>> = {
    "/v1/health": () => jsonAnswer({ status: "ok" }),
    "/v1/ready": () => readyAnswer(ports),
    "/v1/models": () => jsonAnswer({ object: "list", data: [...models().values()] }),
    "/v1/dnt/table": () => textAnswer(tableText(), "application/json"),
    "/v1/dnt/peers": () => jsonAnswer({ peers: connectedPeers(ports) }),
    "/v1/dnt/peers_status": () => jsonAnswer({ peers: knownPeers(ports) }),
    "/v1/dnt/stats": () => jsonAnswer(stats(ports)),
    // Entry points are there to be given away, so redaction leaves them.
    "/v1/dnt/bootstraps": () => jsonAnswer({ bootstraps: ports.mesh().bootstraps }),
    "/metrics": async () => textAnswer(await ports.metrics.text(), ports.metrics.contentType),
  };
  for (const [path, answer] of Object.entries(routes)) app.get(path, () => answer());
  app.get("/v1/models/:id{.+}", (c) => jsonAnswer(modelNamed(c.req.param("id"), models())));
  for (const path of [...Object.keys(routes), "/v1/models/:id{.+}"]) app.all(path, refuseMethod);
  app.notFound((c) => refusePath(c.req.path));
  // The door turns every error into an answer, in one place.
  app.onError((error) => {
    throw error;
  });
  return async (request) => await app.fetch(request);
}

/** What may be done with an endpoint that only reads. */
export const readMethods = "GET, HEAD, OPTIONS";

function refuseMethod(): never {
  throw new OtelaError(
    "method_not_allowed",
    "Cannot change anything here as it must be GET or HEAD",
    {
      fields: { allow: readMethods },
    },
  );
}

function refusePath(path: string): never {
  const hint = path.startsWith("/v1/v1/") ? '; the base URL must end in one "/v1": it has two' : "";
  throw new OtelaError(
    "no_such_endpoint",
    `Cannot find "${path.slice(0, 200)}" as it must be one of this node's paths${hint}`,
  );
}

function readyAnswer({ readiness }: ClientDoorPorts): Response {
  const state = readiness();
  if (state.isReady) return jsonAnswer({ status: "ready", mesh: state.mesh });
  throw new OtelaError("not_ready", `Cannot serve yet: ${state.reason}`);
}

function modelsOfTable(ports: ClientDoorPorts): () => ReadonlyMap<string, ListedModel> {
  const createdS = Math.floor(ports.wallClock() / secondMs);
  let from: MeshTable | undefined;
  let models: ReadonlyMap<string, ListedModel> = new Map();
  return () => {
    const table = ports.table();
    if (table !== from) {
      models = listModels(table, ports.config.openAiService, createdS);
      from = table;
    }
    return models;
  };
}

/** Ids hold slashes; one at the very end may also be a base URL's leftover (C029). */
function modelNamed(id: string, models: ReadonlyMap<string, ListedModel>): ListedModel {
  const model = models.get(id) ?? models.get(id.replace(/\/$/, ""));
  if (model) return model;
  throw new OtelaError(
    "model_not_found",
    `Cannot find the model "${id.slice(0, 200)}" as a live peer must offer it: none does`,
  );
}

function tableTextOf(ports: ClientDoorPorts): () => string {
  let text = "";
  let from: MeshTable | undefined;
  let madeAtMs: Ms = 0;
  return () => {
    const table = ports.table();
    const nowMs = ports.clock.nowMs();
    if (table === from && nowMs - madeAtMs < tableAgeMaxMs) return text;
    const options = { nowMs, wallMs: ports.wallClock(), isRedacted: ports.config.isRedacted };
    const rows = table.entries.map((entry) => [`/${entry.peer}`, peerRecord(entry, options)]);
    text = JSON.stringify(Object.fromEntries(rows));
    from = table;
    madeAtMs = nowMs;
    return text;
  };
}

/** Field names of the reference, in its case. */
function connectedPeers(
  { mesh, config }: ClientDoorPorts,
): { ID: string; Addrs: readonly string[] }[] {
  return mesh().connections.map(({ peer, addresses }) => ({
    ID: peer,
    Addrs: config.isRedacted ? [] : addresses,
  }));
}

const connectednessNames = {
  connected: "Connected",
  limited: "Limited",
  not_connected: "NotConnected",
} as const;

function knownPeers({ mesh, table }: ClientDoorPorts): { id: string; connectedness: string }[] {
  const { self, entries } = table();
  const known = new Map<string, string>([[self, connectednessNames.not_connected]]);
  for (const { peer, connectedness } of entries) {
    if (peer !== self) known.set(peer, connectednessNames[connectedness]);
  }
  // Connections are there right after the start, before any claim.
  for (const { peer, isLimited } of mesh().connections) {
    known.set(peer, isLimited ? connectednessNames.limited : connectednessNames.connected);
  }
  return [...known].map(([id, connectedness]) => ({ id, connectedness }));
}

function stats(ports: ClientDoorPorts): Record<string, unknown> {
  const connected = connectedPeers(ports);
  const known = knownPeers(ports);
  return {
    connected_peers: connected.length,
    total_peers_known: known.length,
    connected_peer_details: connected,
    all_peer_details: known,
    message: `${connected.length} of ${known.length} known peers are connected`,
  };
}
