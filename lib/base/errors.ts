// What can go wrong in ways we foresee?

/**
 * Every failure we foresee. A new code does not compile until the gateway gives it a status.
 *
 * @example Which failures may pass by themselves?
 * ```ts
 * import { ok } from "node:assert/strict";
 * import type { ErrorCode } from "@otela/otela";
 *
 * const passing: ReadonlySet<ErrorCode> = new Set(["no_candidate", "overloaded", "not_ready"]);
 * ok(passing.has("overloaded"));
 * ```
 */
export type ErrorCode =
  | "bad_peer_id"
  | "bad_request"
  | "body_too_large"
  | "canceled"
  | "config_invalid"
  | "envelope_invalid"
  | "exchange_failed"
  | "forbidden"
  | "headers_too_large"
  | "identity_damaged"
  | "identity_duplicate"
  | "instance_locked"
  | "lane_failed"
  | "malformed_body"
  | "method_not_allowed"
  | "model_not_found"
  | "no_candidate"
  | "no_such_endpoint"
  | "no_such_peer"
  | "no_such_service"
  | "node_failed"
  | "node_stopping"
  | "node_unreachable"
  | "not_ready"
  | "overloaded"
  | "peer_unreachable"
  | "port_busy"
  | "state_unusable"
  | "timed_out"
  | "too_many_requests"
  | "unauthorized"
  | "upgrade_unsupported"
  | "usage_invalid"
  | "worker_failed";

/**
 * Plain facts about one failure; never keys, tokens or bodies.
 *
 * @example How long shall I wait?
 * ```ts
 * import { equal } from "node:assert/strict";
 * import { type ErrorFields, OtelaError } from "@otela/otela";
 *
 * const { fields }: { fields: ErrorFields } = new OtelaError("overloaded", "Cannot take more", {
 *   fields: { retryAfterS: 3 },
 * });
 * equal(fields.retryAfterS, 3);
 * ```
 */
export type ErrorFields = Readonly<Record<string, string | number | boolean | null>>;

/**
 * A failed operation. The message says what we could not do, what must hold and what holds now, without a
 * full stop; the code is what programs decide by, never the message.
 *
 * @example Decides by the code
 * ```ts
 * import { equal } from "node:assert/strict";
 * import { OtelaError, startNode } from "@otela/otela";
 *
 * await using node = await startNode();
 * const failure = await node.fetch("service:nobody-has-it/").catch((error) => error);
 * equal(failure instanceof OtelaError && failure.code, "no_such_service");
 * ```
 */
export class OtelaError extends Error {
  override readonly name: string = "OtelaError";

  constructor(
    readonly code: ErrorCode,
    message: string,
    options: { fields?: ErrorFields; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.fields = options.fields ?? {};
  }

  readonly fields: ErrorFields;
}

/** The message of anything thrown, on one line, cut to 300 characters: for logs and for people. */
export function messageOf(thrown: unknown): string {
  const text = thrown instanceof Error ? thrown.message || thrown.name : String(thrown);
  return text.replaceAll(/\s+/g, " ").slice(0, 300);
}
