// How do we ask an engine how it is?
import type { Dispatcher, Pool } from "undici";
import { OtelaError } from "../base/errors.ts";
import { type Bytes, MiB, type Ms } from "../base/units.ts";
import type { ServiceConfig } from "../config/node_config.ts";
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

/**
 * Asks one engine small questions, beside the exchanges and over connections of its own: a pool full of long
 * streams must not make a healthy engine look dead.
 */
export class EngineClient {
  readonly #pool: Pool;
  readonly #basePath: string;
  readonly #headers: readonly string[];
  readonly #running = new Set<AbortController>();

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
    const call = new AbortController();
    const timer = setTimeout(() => call.abort(this.#lateError(path)), this.timeoutMs);
    this.#running.add(call);
    try {
      const answer = await this.#pool.request({
        method: "GET",
        path: this.#basePath + path,
        headers: [...this.#headers],
        signal: call.signal,
      });
      const text = await readText(answer.body, path);
      return { status: answer.statusCode, server: firstOf(answer.headers.server), text };
    } finally {
      clearTimeout(timer);
      this.#running.delete(call);
    }
  }

  /** Ends what runs; nothing can be asked afterwards. */
  async close(): Promise<void> {
    const reason = new OtelaError("node_stopping", "The service is no longer watched");
    for (const call of this.#running) call.abort(reason);
    await this.#pool.destroy();
  }

  #lateError(path: string): OtelaError {
    return new OtelaError(
      "timed_out",
      `Cannot ask the engine for "${path}" as it must answer within ${this.timeoutMs} ms`,
    );
  }
}

async function readText(
  body: Dispatcher.ResponseData["body"],
  path: string,
): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    if (bytes > replyBytesMax) {
      // Leaving the loop destroys the body, and its connection with it.
      throw new OtelaError(
        "worker_failed",
        `Cannot read the engine's "${path}" as it must have at most ${replyBytesMax} bytes`,
      );
    }
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

function firstOf(header: string | string[] | undefined): string {
  return (Array.isArray(header) ? header[0] : header) ?? "";
}
