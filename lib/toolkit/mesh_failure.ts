// What does a program hear when a call over the mesh fails?
import { OtelaError } from "../base/errors.ts";
import { ExchangeError } from "../exchange/types.ts";
import { toProblem } from "../gateway/problem.ts";

/**
 * A failure of an exchange with the code that the client door would give it (`peer_unreachable`, `timed_out`,
 * `worker_failed`, …); everything else stays what it is. How far the exchange had come is among the fields, and
 * the cause says what happened in the words of the worker, which are not ours to trust.
 */
export function toMeshFailure(thrown: unknown, requestId: string): unknown {
  if (!(thrown instanceof ExchangeError)) return thrown;
  const { code, message } = toProblem(thrown, requestId);
  if (code === "internal_error") return thrown;
  return new OtelaError(code, message, { cause: thrown, fields: { ...thrown.fields, requestId } });
}
