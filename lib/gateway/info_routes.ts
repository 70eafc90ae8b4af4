// What does a node tell about itself and its mesh?
import { Hono } from "hono";
import { OtelaError } from "../base/errors.ts";
import type { PeerId } from "../base/peer_id.ts";
import { type Ms, secondMs } from "../base/units.ts";
import { modelsOf } from "../routing/models.ts";
import type { RoutingView } from "../routing/view.ts";
import type { ServerRequest } from "../server/types.ts";
import { jsonAnswer, textAnswer } from "./json_answer.ts";
import { PeerEvents } from "./peer_events.ts";
import { peerRecord } from "./peer_record.ts";
import type { ClientDoorPorts, MeshTable } from "./ports.ts";

/** How old a table may be when many ask for it: building one of 1,000 peers takes 5 ms. Guess. */
const tableAgeMaxMs: Ms = secondMs;

/**
 * The endpoints that read: none of them changes anything, and all of them answer from memory. They stand
 * off the path of forwarded requests, so hono may route them.
 * @returns Answers a request for a path that belongs to no service; rejects with an `OtelaError`.
 */
export function createInfoRoutes(
  ports: ClientDoorPorts,
): (request: ServerRequest) => Promise<Response> {
  const models = openAiModels(ports);
  const tableText = tableTextOf(ports);
  const events = new PeerEvents(ports);
  const app = new Hono({ strict: false });
  const routes: Readonly<Record<string, () => Response | Promise<Response>>> = {
    "/v1/health": () => jsonAnswer({ status: "ok" }),
    "/v1/ready": () => readyAnswer(ports),
    "/v1/models": () => jsonAnswer({ object: "list", data: [...models().values()] }),
    "/v1/dnt/table": () => textAnswer(tableText(), "application/json"),
    "/v1/dnt/events": () => events.answer(),
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
  // It reads method and URL alone.
  return async (request) => await app.fetch(request as Request);
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

/** One model in OpenAI's shape, with who serves it beside. */
type OpenAiModel = {
  readonly id: string;
  readonly object: "model";
  /** Unix seconds; claims hold no dates, so it is the start of this node. */
  readonly created: number;
  readonly owned_by: string;
  readonly otela: { readonly peers: readonly PeerId[] };
};

/** The union of what live peers offer (C036); a mesh that serves nothing has an empty list, not an error. */
function openAiModels(ports: ClientDoorPorts): () => ReadonlyMap<string, OpenAiModel> {
  const created = Math.floor(ports.wallClock() / secondMs);
  let from: RoutingView | undefined;
  let models: ReadonlyMap<string, OpenAiModel> = new Map();
  return () => {
    const view = ports.view();
    if (view === from) return models;
    from = view;
    models = new Map(
      modelsOf(view, ports.config.openAiService).map(({ id, peers }) => [
        id,
        { id, object: "model", created, owned_by: "otela", otela: { peers } },
      ]),
    );
    return models;
  };
}

/** Ids hold slashes; one at the very end may also be a base URL's leftover (C029). */
function modelNamed(id: string, models: ReadonlyMap<string, OpenAiModel>): OpenAiModel {
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
