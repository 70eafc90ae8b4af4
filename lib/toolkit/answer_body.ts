// How does a program read the body of an answer?
import type { BodyStream } from "../exchange/types.ts";
import { toMeshFailure } from "./mesh_failure.ts";

/**
 * The body as `fetch` would give it: reading it fails with the signal's reason once that aborts, and with a
 * typed error when the worker breaks off. Giving it up ends the exchange. Nothing is read ahead.
 */
export function answerBody(body: BodyStream, signal: AbortSignal, requestId: string): BodyStream {
  const reader = body.getReader();
  let abort = () => {};
  const over = () => signal.removeEventListener("abort", abort);
  return new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller): void {
      abort = () => {
        controller.error(signal.reason);
        reader.cancel(signal.reason).catch(() => {});
      };
      signal.addEventListener("abort", abort, { once: true });
    },
    async pull(controller): Promise<void> {
      try {
        const { done, value } = await reader.read();
        if (signal.aborted) return;
        if (!done) return controller.enqueue(value);
        over();
        controller.close();
      } catch (error) {
        over();
        if (!signal.aborted) controller.error(toMeshFailure(error, requestId));
      }
    },
    async cancel(reason): Promise<void> {
      over();
      await reader.cancel(reason);
    },
  }, { highWaterMark: 0 });
}
