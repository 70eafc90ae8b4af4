// May a failed request be tried elsewhere?
import type { ExchangeFailure, ExchangePhase } from "../base/outcome.ts";

/** What is known when an attempt has failed. */
export type FailedAttempt = {
  readonly phase: ExchangePhase;
  readonly failure: ExchangeFailure;
  /** Whether the body can be sent again from its first byte. */
  readonly isReplayable: boolean;
  /** Whether the client has gone away, so that nobody waits for an answer. */
  readonly isClientGone: boolean;
  /** What the service says of a request that its engine may have seen. */
  readonly policy: "safe" | "never";
  /** Whether the head or a byte of an answer has gone to the client; answers that are held have not. */
  readonly hasAnswerBegun: boolean;
  /** What the retry budget says: see `RetryBudget.isOpen`. */
  readonly isWithinBudget: boolean;
};

/** `retry`: ask the next candidate; `fail`: tell the client; `stop`: there is nobody to tell. */
export type RetryDecision = "retry" | "fail" | "stop";

/**
 * Decides by what was already sent, never by a message.
 * - Nothing left this node: elsewhere, whatever the budget says, because no worker had any work with it.
 * - The worker surely did not pass it to its engine: elsewhere, within the budget.
 * - The engine may have seen it, and all that came back was held: elsewhere, within the budget, unless the service
 *   says `never`.
 * - Something went to the client: never. A stream may be continued instead; that is `decideContinuation`'s.
 * Whether attempts are left is for `Attempts.next` to say.
 */
export function decideRetry(attempt: FailedAttempt): RetryDecision {
  if (attempt.isClientGone) return "stop";
  // Our own side ended it, say because the node stops: another worker would be ended as well.
  if (attempt.failure === "canceled") return "fail";
  if (attempt.hasAnswerBegun || !attempt.isReplayable) return "fail";
  if (attempt.phase === "not_sent") return "retry";
  if (!attempt.isWithinBudget) return "fail";
  return attempt.phase === "refused" || attempt.policy === "safe" ? "retry" : "fail";
}

/**
 * Whether an answer's status says no more than that this worker has no room now (RFC 9110 §15.6.4, RFC 6585 §4),
 * so that another one is asked while there is one.
 */
export function isBusyStatus(status: number): boolean {
  return status === 429 || status === 503;
}

/** What is known when a worker has answered with a status that another worker may better. */
export type BusyAnswer = Omit<FailedAttempt, "phase" | "failure">;

/**
 * Whether a request that a worker had no room for goes to the next one. A status alone does not prove that the
 * engine did nothing, so a service that says `never` keeps its answer.
 */
export function decideHandOn(answer: BusyAnswer): RetryDecision {
  return decideRetry({ ...answer, phase: "head", failure: "overloaded" });
}

/**
 * Whether a failure says that the candidate cannot be reached now, so that others are asked first for a while
 * (`LoadBook.failed`). Refusals say nothing of the kind, and neither does an engine that is slow or full.
 */
export function isUnreachableFailure(failure: ExchangeFailure): boolean {
  return failure === "unreachable" || failure === "lane_closed" || failure === "lane_stalled" ||
    failure === "engine_unreachable";
}

/**
 * Whether a failure counts against the engine itself (`Outliers.failed`): it was reached and did not do its work.
 */
export function isEngineFailure(failure: ExchangeFailure): boolean {
  return failure === "engine_timed_out" || failure === "engine_failed" || failure === "protocol";
}
