// How do we ask an engine how it is?
import { OtelaError } from "../base/errors.ts";
import { headerOf } from "../base/header_list.ts";
import { type Bytes, MiB, type Ms } from "../base/units.ts";
import type { ServiceConfig } from "../config/node_config.ts";
import type { EnginePool } from "../engine/engine_pool.ts";
import type { EngineRequest, ReplySink } from "../engine/engine_request.ts";
import { addressOf, createPool, upstreamHeaders } from "./upstream.ts";

/** An answer of an engine, read whole. */
export type EngineReply = {
  readonly status: number;
  /** The `server` header; empty when it has none. */
  readonly server: string;
  readonly text: string;
};

/** A check that a busy engine answers late is no failure; a frozen one is found in time. As the original. */
export const checkTimeoutMs: Ms = 5_000;
/** SGLang tells all its arguments beside its version. Guess. */
const replyBytesMax: Bytes = MiB;
const nothing = new Uint8Array(0);

/**
 * Asks one engine small questions, beside the exchanges and over connections of its own: a pool full of long
 * streams must not make a healthy engine look dead.
 */
export class EngineClient {
  readonly #pool: EnginePool;
  readonly #basePath: string;
  readonly #headers: readonly string[];
  readonly #running = new Set<WholeReply>();

  constructor(config: ServiceConfig, private readonly timeoutMs: Ms = checkTimeoutMs) {
    this.#pool = createPool(config, { connectTimeoutMs: timeoutMs, connectionsMax: 2 });
    this.#basePath = addressOf(config).basePath;
    this.#headers = [...upstreamHeaders(config), "accept", "*/*", "user-agent", "otela"];
  }

  /**
   * GET, without following redirects.
   * @param path Begins with `/`.
   * @throws {OtelaError} `timed_out` or `worker_failed`; the message names what happened, never a key.
   */
  async get(path: string): Promise<EngineReply> {
    const reply = new WholeReply(path);
    reply.request = this.#pool.start(
      { method: "GET", path: this.#basePath + path, headers: this.#headers, bodyBytes: 0 },
      nothing,
      true,
      reply,
    );
    const timer = setTimeout(() => reply.stop(this.#lateError(path)), this.timeoutMs);
    this.#running.add(reply);
    try {
      return await reply.whole;
    } finally {
      clearTimeout(timer);
      this.#running.delete(reply);
    }
  }

  /** Ends what runs; nothing can be asked afterwards. */
  async close(): Promise<void> {
    const reason = new OtelaError("node_stopping", "The service is no longer watched");
    for (const reply of this.#running) reply.stop(reason);
    await this.#pool.destroy();
  }

  #lateError(path: string): OtelaError {
    return new OtelaError(
      "timed_out",
      `Cannot ask the engine for "${path}" as it must answer within ${this.timeoutMs} ms`,
    );
  }
}

/** Collects an answer. */
class WholeReply implements ReplySink {
  readonly #settled = Promise.withResolvers<EngineReply>();
  readonly #decoder = new TextDecoder();
  #status = 0;
  #server = "";
  #text = "";
  #bytes: Bytes = 0;
  /** What it answers, once that has begun. */
  request: EngineRequest | undefined;

  constructor(private readonly path: string) {}

  get whole(): Promise<EngineReply> {
    return this.#settled.promise;
  }

  /** Gives up. */
  stop(error: Error): void {
    this.request?.cancel();
    this.replyFailed(error);
  }

  replyHead(status: number, headers: string[]): void {
    this.#status = status;
    this.#server = headerOf(headers, "server");
  }

  replyData(chunk: Uint8Array): boolean {
    this.#bytes += chunk.byteLength;
    if (this.#bytes <= replyBytesMax) this.#text += this.#decoder.decode(chunk, { stream: true });
    else this.stop(this.#tooLarge());
    return true;
  }

  replyEnd(): void {
    const text = this.#text + this.#decoder.decode();
    this.#settled.resolve({ status: this.#status, server: this.#server, text });
  }

  replyFailed(error: Error): void {
    this.#settled.reject(error);
  }

  bodyTaken(): void {}

  #tooLarge(): OtelaError {
    return new OtelaError(
      "worker_failed",
      `Cannot read the engine's "${this.path}" as it must have at most ${replyBytesMax} bytes`,
    );
  }
}
