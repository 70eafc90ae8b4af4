// How does the demo ask, and what does it note about an answer?
import OpenAI from "openai";
import type { Ms } from "../lib/base/units.ts";

/** One answer and how it came. */
export type Answer = {
  readonly text: string;
  /** PeerId of the worker that served it, as the head says. */
  readonly servedBy: string;
  /** From the request to the first piece of text; the whole answer when it was not streamed. */
  readonly firstTokenMs: Ms;
  readonly totalMs: Ms;
  readonly chunkCount: number;
  /** Why a stream ended early; `undefined` when it was whole. */
  readonly brokenBy: unknown;
};

/** A question and how to ask it. */
export type Ask = {
  readonly model: string;
  readonly question: string;
  readonly tokensMax: number;
  /** Members for the built-in engine; a real one ignores them. */
  readonly extra?: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
};

/** The official client, pointed at the head. It does not retry, so that what we see is the mesh's doing. */
export function chatClient(url: string): OpenAI {
  return new OpenAI({ baseURL: `${url}/v1`, apiKey: "none needed", maxRetries: 0 });
}

/** Asks and waits for the whole answer. @throws {OpenAI.APIError} When it is refused or fails. */
export async function askPlain(client: OpenAI, ask: Ask): Promise<Answer> {
  const startMs = performance.now();
  const { data, response } = await client.chat.completions
    .create({ ...bodyOf(ask), stream: false }, { signal: ask.signal }).withResponse();
  const totalMs = performance.now() - startMs;
  const text = data.choices[0]?.message.content?.trim() ?? "";
  const servedBy = response.headers.get("x-computing-node") ?? "";
  return { text, servedBy, firstTokenMs: totalMs, totalMs, chunkCount: 1, brokenBy: undefined };
}

/**
 * Asks for a stream and reads it to its end, whole or broken.
 * @param onChunk Called after each piece of text with how many came so far and who serves.
 * @throws {OpenAI.APIError} When it is refused, or fails before its first byte.
 */
export async function askStreamed(
  client: OpenAI,
  ask: Ask,
  onChunk: (count: number, servedBy: string) => void | Promise<void> = () => {},
): Promise<Answer> {
  const startMs = performance.now();
  const { data, response } = await client.chat.completions
    .create({ ...bodyOf(ask), stream: true }, { signal: ask.signal }).withResponse();
  const servedBy = response.headers.get("x-computing-node") ?? "";
  let [text, chunkCount, firstTokenMs] = ["", 0, NaN];
  let brokenBy: unknown;
  try {
    for await (const chunk of data) {
      const piece = chunk.choices[0]?.delta.content;
      if (!piece) continue;
      if (chunkCount === 0) firstTokenMs = performance.now() - startMs;
      text += piece;
      await onChunk(++chunkCount, servedBy);
    }
    ask.signal.throwIfAborted(); // The client ends an aborted stream in silence.
  } catch (error) {
    ask.signal.throwIfAborted();
    brokenBy = error;
  }
  const totalMs = performance.now() - startMs;
  return { text: text.trim(), servedBy, firstTokenMs, totalMs, chunkCount, brokenBy };
}

function bodyOf(ask: Ask): Omit<OpenAI.ChatCompletionCreateParams, "stream"> {
  return {
    model: ask.model,
    messages: [{ role: "user", content: ask.question }],
    temperature: 0,
    max_tokens: ask.tokensMax,
    ...ask.extra,
  };
}
