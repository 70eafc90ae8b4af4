// Which answer does a thrown value become?
import { type ErrorCode, messageOf, OtelaError } from "../base/errors.ts";
import type { Log } from "../base/ports.ts";
import { ExchangeError, type ExchangeFailure } from "../exchange/types.ts";
import { jsonAnswer, textAnswer } from "./json_answer.ts";

/** A failure as clients see it. */
export type Problem = {
  readonly status: number;
  readonly code: ErrorCode | "internal_error";
  readonly message: string;
  readonly headers: Readonly<Record<string, string>>;
};

/**
 * The status of each failure, decided here and nowhere else. 500 stands for failures that no request
 * can cause; they tell the client nothing.
 */
export const statusOf: Readonly<Record<ErrorCode, number>> = {
  bad_peer_id: 400,
  bad_request: 400,
  body_too_large: 413,
  // Nobody reads it: nginx' number for a client that left, so that logs can tell it apart.
  canceled: 499,
  config_invalid: 500,
  envelope_invalid: 500,
  exchange_failed: 502,
  forbidden: 403,
  headers_too_large: 431,
  identity_damaged: 500,
  identity_duplicate: 500,
  instance_locked: 500,
  lane_failed: 502,
  malformed_body: 400,
  method_not_allowed: 405,
  model_not_found: 404,
  no_candidate: 503,
  no_such_endpoint: 404,
  no_such_peer: 404,
  no_such_service: 404,
  node_failed: 500,
  node_stopping: 503,
  node_unreachable: 502,
  not_ready: 503,
  overloaded: 503,
  peer_unreachable: 502,
  port_busy: 500,
  state_unusable: 500,
  timed_out: 504,
  too_many_requests: 429,
  unauthorized: 401,
  upgrade_unsupported: 501,
  usage_invalid: 500,
  worker_failed: 502,
};

/** What an exchange's failure means to a client. Its own message may hold addresses and foreign text. */
const ofExchange: Readonly<Record<ExchangeFailure, { code: ErrorCode; why: string }>> = {
  unreachable: { code: "peer_unreachable", why: "it cannot be reached" },
  lane_closed: { code: "worker_failed", why: "the connection to it ended" },
  lane_stalled: { code: "timed_out", why: "it stopped answering" },
  no_such_service: { code: "no_candidate", why: "it no longer offers the service" },
  not_allowed: { code: "forbidden", why: "it does not serve this node" },
  overloaded: { code: "overloaded", why: "it has no room for more requests" },
  engine_unreachable: { code: "worker_failed", why: "it cannot reach its engine" },
  engine_failed: { code: "worker_failed", why: "its engine broke off" },
  engine_timed_out: { code: "timed_out", why: "its engine took too long" },
  canceled: { code: "canceled", why: "the request was canceled" },
  protocol: { code: "worker_failed", why: "it broke the protocol" },
};

/** Seconds after which an answer invites another try, when the error itself names no `retryAfterS`. Guess. */
export const retryAfterS = 1;

/**
 * Any thrown value as a problem; what we did not foresee, and what no request should be able to cause,
 * tells nothing but the request id.
 * @param requestId Repeated in the message of a 500, because that is all a person has.
 */
export function toProblem(thrown: unknown, requestId: string): Problem {
  const known = thrown instanceof OtelaError ? knownProblem(thrown) : undefined;
  return known ?? {
    status: 500,
    code: "internal_error",
    message: `Cannot answer the request; the log of this node says why under "${requestId}"`,
    headers: {},
  };
}

function knownProblem(error: OtelaError): Problem | undefined {
  const exchange = error instanceof ExchangeError ? ofExchange[error.failure] : undefined;
  const code = exchange?.code ?? error.code;
  const status = statusOf[code];
  if (status === 500) return undefined;
  const message = exchange
    ? `Cannot get an answer from the worker: ${exchange.why}`
    : error.message;
  const headers: Record<string, string> = {};
  if (error.fields.mayRepeat === false) headers["x-should-retry"] = "false";
  else if (isPassing(status, error)) {
    headers["retry-after"] = String(error.fields.retryAfterS ?? retryAfterS);
  }
  if (status === 401) headers["www-authenticate"] = 'Bearer realm="otela"';
  if (typeof error.fields.allow === "string") headers.allow = error.fields.allow;
  return { status, code, message, headers };
}

/**
 * Whether another try may find another worker, or a rested one. An engine that took too long would take as long
 * again, and OpenAI's clients repeat every 5xx anyway unless `X-Should-Retry` says no.
 */
function isPassing(status: number, error: OtelaError): boolean {
  if (error instanceof ExchangeError && error.failure === "lane_stalled") return true;
  return status === 503 || status === 429 || status === 502;
}

/** OpenAI's names for kinds of errors; its clients show them to people. */
function openAiType(status: number): string {
  if (status === 401) return "authentication_error";
  if (status === 403) return "permission_error";
  if (status === 429) return "rate_limit_error";
  return status < 500 ? "invalid_request_error" : "server_error";
}

/** A problem at the client door: OpenAI's error object, never with a status of success. */
export function clientProblem(problem: Problem): Response {
  const { message, code, status } = problem;
  const error = { message, type: openAiType(status), code, param: null };
  return withHeaders(jsonAnswer({ error }, status), problem);
}

/** A problem at the operator door: RFC 9457. The operator's own mistakes in a description are 400s. */
export function operatorProblem(thrown: unknown, requestId: string): Response {
  const isMistake = thrown instanceof OtelaError &&
    (thrown.code === "config_invalid" || thrown.code === "usage_invalid");
  const problem = isMistake
    ? { status: 400, code: thrown.code, message: thrown.message, headers: {} }
    : toProblem(thrown, requestId);
  const { status, code, message } = problem;
  const body = {
    type: `/problems/${code}`,
    title: code.replaceAll("_", " "),
    status,
    detail: message,
    instance: requestId,
  };
  return withHeaders(textAnswer(JSON.stringify(body), "application/problem+json", status), problem);
}

function withHeaders(response: Response, { headers }: Pick<Problem, "headers">): Response {
  for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
  return response;
}

/** Writes down why a request got a 500; everything else is in the access log. */
export function logUnforeseen(
  log: Log,
  thrown: unknown,
  problem: Problem,
  requestId: string,
): void {
  if (problem.status !== 500) return;
  const stack = thrown instanceof Error ? thrown.stack?.slice(0, 2_000) : undefined;
  log.error("request.broke", { requestId, error: messageOf(thrown), stack });
}
