// How does a stream stay open while its model thinks?
import { ExchangeError } from "../exchange/types.ts";
import type { BodyStream } from "../exchange/types.ts";
import type { Ms } from "../base/units.ts";
import { EventCutter } from "../usage/event_cutter.ts";

type Chunk = Uint8Array<ArrayBuffer>;

/**
 * One comment that ends in a single line end: with an empty line behind it some clients would take it for an event
 * once they had seen an `id:` (C004).
 */
const comment: Chunk = new TextEncoder().encode(": keep-alive\n");

/** A stream whose head may leave before the worker's has come. */
export type KeptAlive = {
  readonly body: BodyStream;
  /** The answer is here, or will never come: its body follows, or an error in its place. */
  settle(answer: BodyStream | Chunk | null): void;
};

/**
 * Breaks the silence of a stream of events by comments, between events only; with the comments taken out the
 * bytes are the worker's. One timer a stream, and only while somebody reads.
 * @param intervalMs Longest silence.
 * @param gone The client left.
 */
export function keepAlive(intervalMs: Ms, gone: () => void): KeptAlive {
  let reader: ReadableStreamDefaultReader<Chunk> | undefined;
  let last: Chunk | undefined;
  const cutter = new EventCutter();
  const { promise: settled, resolve } = Promise.withResolvers<void>();
  let pending: Promise<Chunk | undefined> | undefined;

  const next = async (): Promise<Chunk | undefined> => {
    await settled;
    if (!reader) {
      const error = last;
      last = undefined;
      return error;
    }
    const { done, value } = await reader.read();
    if (!done) return cutter.push(value);
    const rest = cutter.take();
    return rest.length > 0 ? rest : undefined;
  };

  const body: BodyStream = new ReadableStream<Chunk>({
    async pull(controller) {
      for (;;) {
        pending ??= next();
        const timer = Promise.withResolvers<"silent">();
        // Half an event that was sent already cannot be interrupted; the cutter sends none, unless it gave up.
        const id = cutter.isGivenUp
          ? undefined
          : setTimeout(() => timer.resolve("silent"), intervalMs);
        try {
          const outcome = await Promise.race([pending, timer.promise]);
          if (outcome === "silent") return controller.enqueue(comment);
          pending = undefined;
          if (outcome === undefined) {
            if (reader) return controller.close();
            return controller.error(new ExchangeError("engine_failed", "head", "no answer came"));
          }
          if (outcome.length > 0) return controller.enqueue(outcome);
        } finally {
          clearTimeout(id);
        }
      }
    },
    cancel(reason) {
      gone();
      reader?.cancel(reason).catch(() => {});
    },
  }, { highWaterMark: 0 });

  return {
    body,
    settle(answer): void {
      if (answer instanceof Uint8Array) last = answer;
      else reader = answer?.getReader();
      resolve();
    },
  };
}
