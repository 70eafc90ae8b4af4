import { deepEqual, equal, match, ok } from "node:assert/strict";
import { type ErrorCode, OtelaError } from "../../../lib/base/errors.ts";
import { silentLog } from "../../../lib/base/ports.ts";
import { ExchangeError, type ExchangeFailure } from "../../../lib/exchange/types.ts";
import { outcomeOfProblem, outcomeOfStatus } from "../../../lib/gateway/outcome.ts";
import {
  clientProblem,
  logUnforeseen,
  operatorProblem,
  statusOf,
  toProblem,
} from "../../../lib/gateway/problem.ts";

Deno.test("toProblem gives each code its status, and never one of success", () => {
  for (const [code, status] of Object.entries(statusOf)) {
    ok(status >= 400 && status <= 504, code);
    const problem = toProblem(new OtelaError(code as ErrorCode, "Cannot do it"), "req-1");
    equal(problem.status, status);
    if (status !== 500) deepEqual([problem.code, problem.message], [code, "Cannot do it"]);
  }
});

Deno.test("toProblem tells nothing but the request id, when a value is unforeseen or ours alone", () => {
  const thrown = [
    new Error("secret"),
    "secret",
    null,
    undefined,
    new OtelaError("identity_damaged", "secret"),
  ];
  for (const value of thrown) {
    const problem = toProblem(value, "req-1");
    deepEqual([problem.status, problem.code], [500, "internal_error"]);
    match(problem.message, /"req-1"/);
    ok(!JSON.stringify(problem).includes("secret"));
  }
});

Deno.test("toProblem says what a worker's failure means, in words of its own", () => {
  const expected: [ExchangeFailure, number, ErrorCode][] = [
    ["unreachable", 502, "peer_unreachable"],
    ["lane_closed", 502, "worker_failed"],
    ["lane_stalled", 504, "timed_out"],
    ["no_such_service", 503, "no_candidate"],
    ["not_allowed", 403, "forbidden"],
    ["overloaded", 503, "overloaded"],
    ["engine_failed", 502, "worker_failed"],
    ["engine_timed_out", 504, "timed_out"],
    ["protocol", 502, "worker_failed"],
  ];
  for (const [failure, status, code] of expected) {
    const error = new ExchangeError(failure, "sent", "foreign text of 10.0.0.1");
    const problem = toProblem(error, "req-1");
    deepEqual([problem.status, problem.code], [status, code]);
    ok(!problem.message.includes("foreign"));
    const isPassing = status === 502 || status === 503 || failure === "lane_stalled";
    equal(problem.headers["retry-after"], isPassing ? "1" : undefined, failure);
  }
});

Deno.test("toProblem keeps clients from repeating what must not be done twice", () => {
  for (
    const [mayRepeat, headers] of [[true, { "retry-after": "1" }], [false, {
      "x-should-retry": "false",
    }]] as const
  ) {
    const error = new ExchangeError("lane_closed", "sent", "", undefined, { mayRepeat });
    deepEqual(toProblem(error, "req-1").headers, headers);
  }
});

Deno.test("clientProblem has the shape of OpenAI's errors, which its clients read", async () => {
  const problem = toProblem(new OtelaError("model_not_found", "Cannot find it"), "req-1");
  const response = clientProblem(problem);
  equal(response.status, 404);
  deepEqual(await response.json(), {
    error: {
      message: "Cannot find it",
      type: "invalid_request_error",
      code: "model_not_found",
      param: null,
    },
  });
});

Deno.test("operatorProblem is problem+json, and shows the operator's own mistakes", async () => {
  const error = new OtelaError(
    "config_invalid",
    "Cannot read the port as it must be a number: got x",
  );
  const response = operatorProblem(error, "req-1");
  equal(response.status, 400);
  equal(response.headers.get("content-type"), "application/problem+json");
  deepEqual(await response.json(), {
    type: "/problems/config_invalid",
    title: "config invalid",
    status: 400,
    detail: error.message,
    instance: "req-1",
  });
});

Deno.test("logUnforeseen writes down why, and only for a 500", () => {
  const events: string[] = [];
  const log = { ...silentLog, error: (event: string) => void events.push(event) };
  for (const thrown of [new Error("broken"), new OtelaError("bad_request", "Cannot")]) {
    logUnforeseen(log, thrown, toProblem(thrown, "req-1"), "req-1");
  }
  deepEqual(events, ["request.broke"]);
});

Deno.test("outcomeOfProblem tells refusals, absence, delay and failure apart", () => {
  const outcomes: [ErrorCode, string][] = [
    ["canceled", "client_gone"],
    ["no_such_service", "no_candidate"],
    ["model_not_found", "no_candidate"],
    ["overloaded", "no_candidate"],
    ["timed_out", "timed_out"],
    ["worker_failed", "worker_failed"],
    ["body_too_large", "rejected"],
    ["upgrade_unsupported", "rejected"],
    ["unauthorized", "rejected"],
  ];
  for (const [code, outcome] of outcomes) {
    equal(outcomeOfProblem(toProblem(new OtelaError(code, "x"), "r")), outcome, code);
  }
  deepEqual([200, 404, 499, 500, 503].map(outcomeOfStatus), [
    "ok",
    "ok",
    "ok",
    "engine_error",
    "engine_error",
  ]);
});
