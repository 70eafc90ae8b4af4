// How soon does an engine hear that a client has left, and does it hear of all of them?
import { sseEvent } from "../../tests/support/engine_sse.ts";
import { chatAnswer, serveEngine, signsOf } from "./slot_engine.ts";

/** Header by which a request says which one it is. */
export const callHeader = "x-bench-call";
/** Header by which a request is never answered: its client leaves. */
export const waitingHeader = "x-bench-waiting";

const eventMs = 20;

/** An engine with the model `m` that works on every request until its client leaves, and knows when that was. */
export class WatchedEngine implements AsyncDisposable {
  readonly url: string;
  /** Calls that it holds, by what they call themselves. */
  readonly open = new Set<string>();
  readonly #server: Deno.HttpServer<Deno.NetAddr>;

  /** @param closed Told when a call is over, however that came. */
  constructor(private readonly closed: (call: string, beganMs: number) => void) {
    this.#server = serveEngine((request) => this.#answer(request));
    this.url = `http://127.0.0.1:${this.#server.addr.port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }

  async #answer(request: Request): Promise<Response> {
    if (request.method !== "POST") return signsOf(new URL(request.url).pathname);
    const call = request.headers.get(callHeader);
    if (call === null) return chatAnswer("here");
    this.open.add(call);
    const beganMs = performance.now();
    const close = () => this.open.delete(call) && this.closed(call, beganMs);
    try {
      await request.arrayBuffer();
    } catch {
      close();
      return new Response();
    }
    if (request.headers.get(waitingHeader) === null) return endlessStream(close);
    await new Promise<void>((resolve) => {
      if (request.signal.aborted) resolve();
      else request.signal.addEventListener("abort", () => resolve(), { once: true });
    });
    close();
    return new Response();
  }
}

/** Tokens until nobody reads them. */
function endlessStream(close: () => void): Response {
  let timer: ReturnType<typeof setInterval> | undefined;
  const event = sseEvent({
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    model: "m",
    choices: [{ index: 0, delta: { content: "word " }, finish_reason: null }],
  });
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      controller.enqueue(event);
      timer = setInterval(() => controller.enqueue(event), eventMs);
    },
    cancel() {
      clearInterval(timer);
      close();
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}
