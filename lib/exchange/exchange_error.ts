// How does an exchange say that it did not end well?
import { type ErrorFields, OtelaError } from "../base/errors.ts";
import type { ExchangeFailure, ExchangePhase } from "../base/outcome.ts";

/** One exchange that did not end well. */
export class ExchangeError extends OtelaError {
  override readonly name = "ExchangeError";

  constructor(
    readonly failure: ExchangeFailure,
    readonly phase: ExchangePhase,
    message: string,
    cause?: unknown,
    fields: ErrorFields = {},
  ) {
    super("exchange_failed", message, { cause, fields: { failure, phase, ...fields } });
  }
}
