// What does a worker look like whose engine does so many requests at a time, each for a known while?

/** A request as the engine gets it. */
export type SlotRequest = {
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  /** How much work it is, for engines that mind. */
  readonly work?: number;
};

/** What the engine does with one request, decided when its turn comes. */
export type SlotTurn = {
  readonly serviceMs: number;
  readonly answer: string;
  /** Called when it is done. */
  readonly done?: () => void;
};

/** How an engine works. */
export type SlotEngineOptions = {
  /** Requests at a time; the others wait in the order of their arrival. */
  readonly slots: number;
  readonly turn: (request: SlotRequest) => SlotTurn;
};

/**
 * An engine of kind vLLM with the model `m`, in this process. It sleeps where a real one computes, so that dozens of
 * them need next to nothing of the machine.
 */
export class SlotEngine implements AsyncDisposable {
  readonly url: string;
  /** Requests whose turn has come. */
  turnCount = 0;
  readonly #options: SlotEngineOptions;
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #line: (() => void)[] = [];
  #freeCount: number;

  constructor(options: SlotEngineOptions) {
    this.#options = options;
    this.#freeCount = options.slots;
    this.#server = serveEngine((request) => this.#answer(request));
    this.url = `http://127.0.0.1:${this.#server.addr.port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }

  async #answer(request: Request): Promise<Response> {
    if (request.method !== "POST") return signsOf(new URL(request.url).pathname);
    const asked: SlotRequest = await request.json();
    await this.#take();
    try {
      // Who left while it waited is not worked for.
      if (request.signal.aborted) return new Response();
      this.turnCount++;
      const { serviceMs, answer, done } = this.#options.turn(asked);
      await new Promise((resolve) => setTimeout(resolve, serviceMs));
      done?.();
      return chatAnswer(answer);
    } finally {
      this.#give();
    }
  }

  async #take(): Promise<void> {
    if (this.#freeCount > 0) this.#freeCount--;
    else await new Promise<void>((resolve) => this.#line.push(resolve));
  }

  #give(): void {
    const next = this.#line.shift();
    if (next) next();
    else this.#freeCount++;
  }
}

/** Listens on a free port of loopback; what fails in an engine, such as a client that has left, is no news. */
export function serveEngine(handler: Deno.ServeHandler): Deno.HttpServer<Deno.NetAddr> {
  return Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {}, onError: () => new Response() },
    handler,
  );
}

/** A whole chat completion. */
export function chatAnswer(content: string): Response {
  const message = { role: "assistant", content };
  const choices = [{ index: 0, message, finish_reason: "stop" }];
  return Response.json({ id: "chatcmpl-1", object: "chat.completion", model: "m", choices });
}

/** What tells its kind, its health and its model. */
export function signsOf(path: string): Response {
  if (path === "/version") return Response.json({ version: "0.11.2" });
  if (path !== "/v1/models") return new Response("ok");
  const model = { id: "m", object: "model", created: 0, owned_by: "vllm" };
  return Response.json({ object: "list", data: [model] });
}
