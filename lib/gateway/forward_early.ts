// May the head of an answer leave before its worker's has come?
import type { Ms } from "../base/units.ts";
import { isRelayable } from "./forward_answer.ts";
import { keepAlive } from "./forward_keep_alive.ts";
import type { ForwardProgress } from "./forward_progress.ts";
import { PlainAnswer, streamOf } from "../server/plain_answer.ts";
import type { ServerAnswer } from "../server/types.ts";
import { outcomeOfProblem } from "./outcome.ts";
import { toProblem } from "./problem.ts";

/** As for a stream that a worker has begun: nobody on the way may collect its events. */
const streamHeaders = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-transform",
  "x-accel-buffering": "no",
};

/**
 * An answer whose silence is broken by comments from the start. When the worker has not begun within the
 * interval, the client gets the head of a stream; that gives up the status, so that a failure after it stands in
 * the stream as an error. Whoever sets the interval chooses that.
 * @param answered The answer, on its way.
 */
export async function answerKeptAlive(
  answered: Promise<ServerAnswer>,
  intervalMs: Ms,
  progress: ForwardProgress,
): Promise<ServerAnswer> {
  const kept = keepAlive(intervalMs, () => progress.clientGone());
  const timer = Promise.withResolvers<undefined>();
  const id = setTimeout(() => timer.resolve(undefined), intervalMs);
  const response = await Promise.race([answered, timer.promise]).finally(() => clearTimeout(id));
  if (response) {
    if (!isEvents(response)) return response;
    kept.settle(streamOf(response));
    const early = new PlainAnswer(response.status, kept.body);
    response.headers.forEach((value, name) => early.headers.append(name, value));
    return early;
  }
  answered.then(
    async (late) => {
      const stream = streamOf(late);
      if (isEvents(late)) return kept.settle(stream);
      kept.settle(errorOf(await new Response(stream).text().catch(() => ""), late.status));
    },
    (thrown) => {
      const { requestId } = progress.facts.context;
      const problem = toProblem(thrown, requestId);
      const { code, message } = problem;
      progress.ended({ outcome: outcomeOfProblem(problem), code, bodyBytes: 0, firstByteAtMs: -1 });
      kept.settle(eventOf({ message, type: "server_error", code, param: null }));
    },
  );
  const head = new PlainAnswer(200, kept.body);
  for (const [name, value] of Object.entries(streamHeaders)) head.headers.append(name, value);
  return head;
}

function isEvents(response: ServerAnswer): boolean {
  const headers = ["content-type", response.headers.get("content-type") ?? ""];
  const encoding = response.headers.get("content-encoding");
  if (encoding !== null) headers.push("content-encoding", encoding);
  return isRelayable({ status: response.status, headers }) && response.body !== null;
}

/** An engine's refusal, which came too late to be a status. */
function errorOf(text: string, status: number): Uint8Array<ArrayBuffer> {
  try {
    const { error } = JSON.parse(text);
    if (error) return eventOf(error);
  } catch {
    // No JSON: said below.
  }
  const message = `The engine answered with status ${status}`;
  return eventOf({ message, type: "server_error", code: "worker_failed", param: null });
}

function eventOf(error: unknown): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(`data: ${JSON.stringify({ error })}\n\n`);
}
