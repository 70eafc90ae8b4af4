// How does a test ask for a chat completion and see who answered?
import type { Ms } from "../../lib/base/units.ts";
import { within } from "./within.ts";

/** The answer to one request that was read to its end. */
export type ChatAnswer = {
  readonly status: number;
  /** PeerId of the worker; empty when none answered. */
  readonly worker: string;
  /** Name of its engine; empty when none answered. */
  readonly engine: string;
  /** Of an error object; empty when there is none. */
  readonly code: string;
  /** From the request to the end of its answer. */
  readonly tookMs: Ms;
};

/** What may differ from a plain request. */
export type ChatOptions = {
  readonly headers?: Readonly<Record<string, string>>;
  /** Path on the node, `/v1/chat/completions` unless said otherwise. */
  readonly path?: string;
  readonly deadlineMs?: Ms;
};

/**
 * Asks once.
 * @param http URL of a client door.
 * @throws {Error} When the whole answer does not come within the deadline.
 */
export async function askChat(
  http: string,
  model: string,
  { headers = {}, path = "/v1/chat/completions", deadlineMs = 10_000 }: ChatOptions = {},
): Promise<ChatAnswer> {
  const startMs = performance.now();
  return await within(deadlineMs, ask());

  async function ask(): Promise<ChatAnswer> {
    const response = await fetch(http + path, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({ model, messages: [{ role: "user", content: "hello" }] }),
    });
    const { error } = await response.json();
    return {
      status: response.status,
      worker: response.headers.get("x-computing-node") ?? "",
      engine: response.headers.get("x-engine") ?? "",
      code: error?.code ?? "",
      tookMs: performance.now() - startMs,
    };
  }
}
