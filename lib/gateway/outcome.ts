// Under which outcome does a request count?
import type { RequestOutcome } from "../metrics/request_meter.ts";
import type { Problem } from "./problem.ts";

/** The outcome of a request that ended with a problem instead of an engine's answer. */
export function outcomeOfProblem({ code, status }: Problem): RequestOutcome {
  if (code === "canceled") return "client_gone";
  if (code === "no_such_service" || code === "no_such_peer" || code === "model_not_found") {
    return "no_candidate";
  }
  if (status === 504) return "timed_out";
  if (status === 503 || status === 429) return "no_candidate";
  return status >= 500 && code !== "upgrade_unsupported" ? "worker_failed" : "rejected";
}

/** The outcome of a request whose engine answered and whose answer arrived whole. */
export function outcomeOfStatus(status: number): RequestOutcome {
  return status >= 500 ? "engine_error" : "ok";
}
