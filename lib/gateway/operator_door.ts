// How does the operator look at a node and change it?
import { Hono } from "hono";
import { OtelaError } from "../base/errors.ts";
import type { Log } from "../base/ports.ts";
import type { PeerId } from "../base/peer_id.ts";
import { type Bytes, KiB, type Ms } from "../base/units.ts";
import type { Status, StatusReason } from "../membership/status.ts";
import type { Role } from "../registry/claim.ts";
import type { CandidateFacts } from "../routing/explain.ts";
import { parseFallbackLevel } from "../routing/request_headers.ts";
import type { Tier } from "../routing/types.ts";
import { jsonAnswer } from "./json_answer.ts";
import type { Connectedness, MeshTable } from "./ports.ts";
import { logUnforeseen, operatorProblem, toProblem } from "./problem.ts";

/**
 * One local service as the operator sees it.
 *
 * @example Why is it not offered?
 * ```ts
 * import { equal } from "node:assert/strict";
 * import type { ServiceStatus } from "@otela/otela";
 *
 * const whyNot = ({ name, state, reason }: ServiceStatus) => `${name} is ${state}: ${reason}`;
 * const status = { name: "llm", url: "http://127.0.0.1:8000", identityGroups: [] };
 * equal(whyNot({ ...status, state: "starting", reason: "it does not listen" }),
 *   "llm is starting: it does not listen");
 * ```
 */
export type ServiceStatus = {
  readonly name: string;
  /** Where its engine listens, without credentials. */
  readonly url: string;
  /** `starting`, `ready`, `failing`, `draining`, … as the reconcile loop calls it. */
  readonly state: string;
  /** Why it has that state, for people; empty when nothing is wrong. */
  readonly reason: string;
  readonly identityGroups: readonly string[];
};

/** A node as `otela status` shows it. */
export type NodeStatus = {
  readonly peerId: string;
  readonly role: Role;
  readonly version: string;
  /** URLs of the client door. */
  readonly http: readonly string[];
  /** Addresses for peers, with `/p2p/…`. */
  readonly multiaddrs: readonly string[];
  readonly uptimeMs: number;
  /** Name of its mesh. */
  readonly network: string;
  readonly connections: number;
  /** Those with a claim, this node included, by what membership says. */
  readonly peers: { readonly alive: number; readonly suspect: number; readonly left: number };
  /** Requests that run now, by way: to other peers, from other peers, to engines of this node. */
  readonly running: { readonly out: number; readonly in: number; readonly engines: number };
  readonly services: readonly ServiceStatus[];
  readonly registry: { readonly claims: number; readonly claimBytes: number };
  /** What a person should look at; empty when all is well. */
  readonly warnings: readonly string[];
};

/** What a request would ask for. */
export type RoutingQuestion = {
  readonly service: string;
  /** `model=NAME`, split. */
  readonly key: string;
  readonly value: string;
  readonly fallback: Tier;
};

/** Who would be asked, and why. */
export type Explanation = {
  readonly policy: string;
  /** Who would be asked first comes first; empty when nobody matches. */
  readonly candidates: readonly CandidateFacts[];
};

/** One peer as `otela peers` shows it. */
export type PeerRow = {
  readonly id: PeerId;
  readonly role: Role;
  readonly status: Status;
  readonly reason: StatusReason;
  /** For how long it has been so. */
  readonly forMs: Ms;
  /** Who says so; empty when the whole mesh holds it for so. */
  readonly seenBy: readonly PeerId[];
  readonly connectedness: Connectedness;
  /** Names, each once. */
  readonly services: readonly string[];
  readonly isSelf: boolean;
};

/** The local services of a running node (port). */
export interface ServicesPort {
  list(): readonly ServiceStatus[];
  /**
   * @param description Untrusted JSON in the form of the configuration file's list.
   * @throws {OtelaError} `config_invalid` when it describes no service or its name is taken.
   */
  add(description: unknown): Promise<ServiceStatus>;
  /** @returns Whether there was one of that name. */
  remove(name: string): Promise<boolean>;
}

/** Everything the operator door asks of the node. */
export type OperatorDoorPorts = {
  readonly log: Log;
  readonly newRequestId: () => string;
  readonly status: () => NodeStatus;
  readonly services: ServicesPort;
  /** @throws {OtelaError} `no_such_service`. */
  readonly explain: (question: RoutingQuestion) => Explanation;
  /** Every peer with a claim, sorted by id. */
  readonly peers: () => readonly PeerRow[];
  /** Begins to stop the node; must return at once, so that the answer still leaves. */
  readonly stop: () => void;
};

/** A table as rows. */
export function peerRows({ self, entries }: MeshTable, nowMs: Ms): PeerRow[] {
  return entries.map(({ peer, claim, status, seenBy, connectedness }) => ({
    id: peer,
    role: claim.role,
    status: status.status,
    reason: status.reason,
    forMs: Math.max(0, Math.round(nowMs - status.sinceMs)),
    seenBy,
    connectedness,
    services: [...new Set(claim.services.map(({ name }) => name))],
    isSelf: peer === self,
  }));
}

/** Largest body: a description of one service. */
export const operatorBodyBytesMax: Bytes = 64 * KiB;

/**
 * The surface on which state changes, and the only one. The node serves it on a Unix socket of mode 0600
 * in a directory of mode 0700, so whoever can speak to it is the operator; it is never served over TCP.
 * @returns Answers one request; never rejects.
 */
export function createOperatorDoor(
  ports: OperatorDoorPorts,
): (request: Request) => Promise<Response> {
  const app = new Hono({ strict: false });
  app.get("/status", () => jsonAnswer(ports.status()));
  app.get("/explain", (c) => jsonAnswer(ports.explain(questionOf(c.req.query()))));
  app.get("/peers", () => jsonAnswer({ peers: ports.peers() }));
  app.get("/services", () => jsonAnswer({ services: ports.services.list() }));
  app.post("/services", async (c) => {
    const added = await ports.services.add(await boundedJson(c.req.raw));
    ports.log.info("service.added", { name: added.name });
    return jsonAnswer(added, 201);
  });
  app.delete("/services/:name", async (c) => {
    const name = c.req.param("name");
    if (!await ports.services.remove(name)) {
      throw new OtelaError(
        "no_such_service",
        `Cannot remove the service "${name.slice(0, 100)}" as this node must have it: it has not`,
      );
    }
    ports.log.info("service.removed", { name });
    return new Response(null, { status: 204 });
  });
  app.post("/stop", () => {
    ports.log.info("node.stopping", { by: "operator" });
    ports.stop();
    return jsonAnswer({ status: "stopping" }, 202);
  });
  const allowed = [
    ["/status", "GET, HEAD"],
    ["/explain", "GET, HEAD"],
    ["/peers", "GET, HEAD"],
    ["/services", "GET, HEAD, POST"],
    ["/services/:name", "DELETE"],
    ["/stop", "POST"],
  ];
  for (const [path, methods] of allowed) app.all(path, (c) => refuseMethod(c.req.method, methods));
  app.notFound((c) => {
    throw new OtelaError("no_such_endpoint", `Cannot find "${c.req.path.slice(0, 200)}" here`);
  });
  app.onError((error) => {
    const requestId = ports.newRequestId();
    logUnforeseen(ports.log, error, toProblem(error, requestId), requestId);
    return operatorProblem(error, requestId);
  });
  return async (request) => await app.fetch(request);
}

/** @param query Untrusted: `service`, `group` as `key=value`, `fallback`. */
function questionOf(query: Readonly<Record<string, string>>): RoutingQuestion {
  const { service = "llm", group = "", fallback = "0" } = query;
  const cut = group.indexOf("=");
  if (cut <= 0) {
    throw new OtelaError(
      "bad_request",
      `Cannot explain a request as its group must be key=value: got "${group.slice(0, 100)}"`,
    );
  }
  const [key, value] = [group.slice(0, cut), group.slice(cut + 1)];
  return { service, key, value, fallback: parseFallbackLevel(fallback) };
}

function refuseMethod(method: string, allow: string): never {
  throw new OtelaError("method_not_allowed", `Cannot use ${method} here as it must be ${allow}`, {
    fields: { allow },
  });
}

/** Reads no further than the bound, whatever length the request claims to have. */
async function boundedJson(request: Request): Promise<unknown> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes: Bytes = 0;
  for await (const chunk of request.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > operatorBodyBytesMax) {
      throw new OtelaError(
        "body_too_large",
        `Cannot read the description as it must have at most ${operatorBodyBytesMax} bytes`,
      );
    }
    text += decoder.decode(chunk, { stream: true });
  }
  try {
    return JSON.parse(text + decoder.decode());
  } catch {
    throw new OtelaError(
      "malformed_body",
      "Cannot read the description as it must be JSON: it is not",
    );
  }
}
