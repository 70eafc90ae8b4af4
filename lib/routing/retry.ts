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
};

/** `retry`: ask the next candidate; `fail`: tell the client; `stop`: there is nobody to tell. */
export type RetryDecision = "retry" | "fail" | "stop";

/**
 * Decides by what was already sent, never by a message: a request that the engine surely did not see can go
 * elsewhere without doing any work twice. Once it may have seen it, the failure is final (502 at the door).
 * Whether attempts are left is for `Attempts.next` to say.
 */
export function decideRetry(attempt: FailedAttempt): RetryDecision {
  if (attempt.isClientGone) return "stop";
  // Our own side ended it, say because the node stops: another worker would be ended as well.
  if (attempt.failure === "canceled") return "fail";
  const isUnseen = attempt.phase === "not_sent" || attempt.phase === "refused";
  return isUnseen && attempt.isReplayable ? "retry" : "fail";
}

/**
 * Whether a failure says that the candidate cannot be reached now, so that others are asked first for a while
 * (`LoadBook.failed`). Refusals say nothing of the kind, and neither does an engine that is slow or full.
 */
export function isUnreachableFailure(failure: ExchangeFailure): boolean {
  return failure === "unreachable" || failure === "lane_closed" || failure === "lane_stalled" ||
    failure === "engine_unreachable";
}
