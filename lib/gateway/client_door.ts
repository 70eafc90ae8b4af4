// How does a client's request become an answer?
import { OtelaError } from "../base/errors.ts";
import type { Ms } from "../base/units.ts";
import { type Cors, createCors } from "./cors.ts";
import { matchTarget } from "./endpoint.ts";
import type { ForwardTarget } from "./target.ts";
import { createInfoRoutes, readMethods } from "./info_routes.ts";
import { hostOf, isLoopback } from "./loopback.ts";
import { outcomeOfProblem, outcomeOfStatus } from "./outcome.ts";
import type { ClientDoorPorts } from "./ports.ts";
import { PlainAnswer } from "../server/plain_answer.ts";
import type {
  AnswerHeaders,
  ConnectionFacts,
  ServerAnswer,
  ServerHandlers,
  ServerRequest,
} from "../server/types.ts";
import { clientProblem, logUnforeseen, toProblem } from "./problem.ts";
import { rawTarget } from "./raw_target.ts";
import { isRequestId, type RequestContext } from "./request_context.ts";
import { readRequestHead, type RequestHead } from "./request_head.ts";
import { requireKey } from "./require_key.ts";
import { isSocketWanted } from "./upgrade.ts";

/** Answers requests; never throws and never rejects. */
export type ClientDoor = ServerHandlers;

/** One request inside the door. */
class Visit implements RequestContext {
  readonly requestId: string;
  isUpgrade = false;
  /** Set once the request is the forwarder's to count and to log. */
  target: ForwardTarget | undefined;

  constructor(
    readonly head: RequestHead,
    readonly receivedAtMs: Ms,
    private readonly connection: ConnectionFacts,
    newRequestId: () => string,
  ) {
    this.requestId = isRequestId(head.requestId) ? head.requestId : newRequestId();
  }

  get headers(): RequestHead["headers"] {
    return this.head.headers;
  }

  get remoteAddress(): string {
    return hostOf(this.connection.remoteAddr);
  }
}

/**
 * The whole surface that clients see. Opens nothing, so a test just calls it with a `Request`; the node
 * hands it to its server.
 */
export function createClientDoor(ports: ClientDoorPorts): ClientDoor {
  const cors = createCors(ports.config.corsOrigins);
  const answerInfo = createInfoRoutes(ports);

  function serve(request: ServerRequest, visit: Visit): ServerAnswer | Promise<ServerAnswer> {
    const { head } = visit;
    const { method } = request;
    if (head.fault !== "") {
      throw new OtelaError("bad_request", `Cannot read the request as ${head.fault}`);
    }
    const raw = rawTarget(request.url);
    // Browsers send no key with a preflight.
    if (method === "OPTIONS" && head.preflightMethod !== "") return preflight(cors, head.origin);
    if (ports.keys && !/^\/v1\/health\/?$/.test(raw.path)) {
      requireKey(ports.keys, head.authorization, head.apiKey);
    }
    if (method === "TRACE" || method === "CONNECT") refuseMethod(method);
    visit.isUpgrade = isSocketWanted(method, head);
    // Browsers open sockets of every page anywhere and leave it to the server to look at the origin.
    if (visit.isUpgrade && head.origin !== "" && !cors.admits(head.origin)) refuseOrigin();
    const target = matchTarget(method, raw, ports.config.openAiService);
    if (target === undefined) {
      return method === "OPTIONS" ? methodsAnswer() : answerInfo(request);
    }
    if (target.kind === "local" && !isLoopback(visit.remoteAddress)) {
      throw new OtelaError(
        "forbidden",
        "Cannot serve /v1/_service/ as the caller must be on this machine; /v1/service/ is for all",
      );
    }
    visit.target = target;
    return ports.forwarder.forward(request, target, visit);
  }

  function fail(thrown: unknown, request: ServerRequest, visit: Visit): ServerAnswer {
    const problem = toProblem(thrown, visit.requestId);
    logUnforeseen(ports.log, thrown, problem, visit.requestId);
    if (visit.target === undefined) ports.metrics.meter.refused(problem.code);
    const response = clientProblem(problem);
    // Nobody knows where such a request ends, so nothing after it may be taken for another.
    if (visit.head.fault !== "") response.headers.set("connection", "close");
    const { attempts, worker } = thrown instanceof OtelaError ? thrown.fields : {};
    record(request, visit, response, {
      outcome: outcomeOfProblem(problem),
      code: problem.code,
      attempts: typeof attempts === "number" ? attempts : 0,
      worker: typeof worker === "string" ? worker.slice(-8) : "",
    });
    return finish(response, visit);
  }

  function record(
    request: ServerRequest,
    visit: Visit,
    response: ServerAnswer,
    end: Pick<
      Parameters<typeof ports.accessLog.write>[0],
      "outcome" | "code" | "attempts" | "worker"
    >,
  ): void {
    if (!ports.accessLog.wants(end.outcome)) return;
    const durationMs = ports.clock.nowMs() - visit.receivedAtMs;
    ports.accessLog.write({
      requestId: visit.requestId,
      method: request.method,
      path: pathOf(request.url),
      status: response.status,
      service: visit.target?.service ?? "",
      durationMs,
      firstByteMs: durationMs,
      bodyBytes: Number(response.headers.get("content-length") ?? 0),
      continuations: 0,
      isUsageEstimated: false,
      ...end,
    });
  }

  /** The headers that are on every answer, whoever made it. */
  function finish(response: ServerAnswer, { requestId, head }: Visit): ServerAnswer {
    // Engines' own were dropped on the way; appending costs half of setting.
    response.headers.append("x-request-id", requestId);
    if (head.origin !== "" && head.preflightMethod === "") {
      appendAll(response.headers, cors.answer(head.origin));
    }
    return response;
  }

  function answered(response: ServerAnswer, request: ServerRequest, visit: Visit): ServerAnswer {
    if (visit.target === undefined) {
      const outcome = outcomeOfStatus(response.status);
      record(request, visit, response, { outcome, code: "", attempts: 0, worker: "" });
    }
    return finish(response, visit);
  }

  function answer(
    request: ServerRequest,
    connection: ConnectionFacts,
  ): ServerAnswer | Promise<ServerAnswer> {
    const head = readRequestHead(request.headers);
    const visit = new Visit(head, ports.clock.nowMs(), connection, ports.newRequestId);
    try {
      const response = serve(request, visit);
      if (!(response instanceof Promise)) return answered(response, request, visit);
      return response.then(
        (whole) => answered(whole, request, visit),
        (thrown) => fail(thrown, request, visit),
      );
    } catch (thrown) {
      return fail(thrown, request, visit);
    }
  }

  function refuse(error: OtelaError): ServerAnswer {
    const requestId = ports.newRequestId();
    const problem = toProblem(error, requestId);
    ports.metrics.meter.refused(problem.code);
    const response = clientProblem(problem);
    response.headers.set("x-request-id", requestId);
    return response;
  }

  return { answer, refuse };
}

function preflight(cors: Cors, origin: string): ServerAnswer {
  const response = new PlainAnswer(204, null);
  appendAll(response.headers, cors.preflight(origin));
  return response;
}

function methodsAnswer(): ServerAnswer {
  const response = new PlainAnswer(204, null);
  response.headers.set("allow", readMethods);
  return response;
}

function refuseMethod(method: string): never {
  throw new OtelaError("method_not_allowed", `Cannot use ${method} at this node`, {
    fields: { allow: "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS" },
  });
}

function refuseOrigin(): never {
  throw new OtelaError(
    "forbidden",
    "Cannot open the WebSocket as its page must come from an origin of client.cors_origins",
  );
}

function appendAll(headers: AnswerHeaders, list: readonly string[]): void {
  for (let index = 0; index < list.length; index += 2) headers.append(list[index], list[index + 1]);
}

/** For the log only: works on every URL, also on those that `rawTarget` refuses. */
function pathOf(url: string): string {
  const start = url.indexOf("/", url.indexOf("//") + 2);
  return start < 0 ? url : url.slice(start).replace(/[?#].*$/s, "");
}
