// How far had an exchange come when it failed, and why did it fail?

/** How far an exchange had come when it failed; retry goes by this alone. */
export type ExchangePhase =
  /** Nothing left this node. */
  | "not_sent"
  /** The worker answered that it did not pass the request to the engine. */
  | "refused"
  /** Sent; the engine may have seen it; no head came back. */
  | "sent"
  /** The head arrived, no byte of the body was handed on. */
  | "head"
  /** Part of the body was handed on. */
  | "body";

/** Why an exchange failed. */
export type ExchangeFailure =
  | "unreachable"
  | "lane_closed"
  | "lane_stalled"
  | "no_such_service"
  | "not_allowed"
  | "overloaded"
  | "engine_unreachable"
  | "engine_failed"
  | "engine_timed_out"
  | "canceled"
  | "protocol";

export const exchangePhases: readonly ExchangePhase[] = [
  "not_sent",
  "refused",
  "sent",
  "head",
  "body",
];

export const exchangeFailures: readonly ExchangeFailure[] = [
  "unreachable",
  "lane_closed",
  "lane_stalled",
  "no_such_service",
  "not_allowed",
  "overloaded",
  "engine_unreachable",
  "engine_failed",
  "engine_timed_out",
  "canceled",
  "protocol",
];
