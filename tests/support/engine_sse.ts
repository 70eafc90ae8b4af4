// How does the test engine stream events?

/** When the events of one stream leave. */
export type EngineStreamTiming = {
  /** Before the first event; 0 sends it with the head. */
  readonly firstMs: number;
  /** Between events; 0 sends all of them in one turn. */
  readonly intervalMs: number;
  /** Breaks the connection instead of sending the event of this index. */
  readonly cutAfter?: number;
  /** Sends half of that event first. */
  readonly isCutWithin?: boolean;
  /** Ends cleanly before this event. */
  readonly endAfter?: number;
  /** Sends nothing from this event on. */
  readonly stallAfter?: number;
};

/** Told how the stream goes. */
export type EngineStreamWatch = { sent(): void; gone(): void };

const brokenOff = "The engine was told to break off";
const encoder = new TextEncoder();

/** One SSE event without a name; JSON for objects, the text itself otherwise. */
export function sseEvent(data: unknown, name?: string): Uint8Array<ArrayBuffer> {
  const text = typeof data === "string" ? data : JSON.stringify(data);
  return encoder.encode(
    name === undefined ? `data: ${text}\n\n` : `event: ${name}\ndata: ${text}\n\n`,
  );
}

/** The body of an SSE answer. Ignores back-pressure, as engines do: the events are few and small. */
export function sseBody(
  events: readonly Uint8Array<ArrayBuffer>[],
  timing: EngineStreamTiming,
  watch: EngineStreamWatch,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let next = 0;
  let isGone = false;
  return new ReadableStream({
    start(controller) {
      const send = () => {
        if (isGone) return;
        do {
          if (next === timing.stallAfter) return;
          if (next === timing.endAfter) return controller.close();
          if (next === timing.cutAfter) {
            watch.gone();
            const half = events[next]?.slice(0, events[next].length / 2);
            if (timing.isCutWithin && half) controller.enqueue(half);
            // What was enqueued leaves before the connection breaks.
            timer = setTimeout(() => controller.error(brokenOff), 5);
            return;
          }
          if (next === events.length) return controller.close();
          controller.enqueue(events[next++]);
          watch.sent();
        } while (timing.intervalMs === 0);
        timer = setTimeout(send, next === events.length ? 0 : timing.intervalMs);
      };
      if (timing.firstMs === 0) send();
      else timer = setTimeout(send, timing.firstMs);
    },
    cancel() {
      clearTimeout(timer);
      isGone = true; // In the turn of a timer that is due already, clearing it comes too late.
      watch.gone();
    },
  });
}

/** An SSE answer. */
export function sseResponse(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  headers: Record<string, string> = {},
): Response {
  return new Response(body, {
    headers: { "content-type": "text/event-stream; charset=utf-8", ...headers },
  });
}
