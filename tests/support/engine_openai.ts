// Which shapes do OpenAI clients expect of an engine?
import type { EngineAnswer, EngineAsk } from "./engine_text.ts";
import type { EngineUsageShape } from "./engine_options.ts";
import { sseEvent } from "./engine_sse.ts";

/** Fixed, so that equal requests have equal answers. */
const createdS = 1_760_000_000;

type Json = Record<string, unknown>;
type Events = Uint8Array<ArrayBuffer>[];

/** `GET /v1/models`. */
export function modelList(models: readonly string[], ownedBy: string): Json {
  const data = models.map((id) => ({ id, object: "model", created: createdS, owned_by: ownedBy }));
  return { object: "list", data };
}

/** An OpenAI error object. */
export function errorBody(message: string, code: string, type = "invalid_request_error"): Json {
  return { error: { message, type, param: null, code } };
}

function usageOf(answer: EngineAnswer): Json {
  const completion = answer.tokens.length;
  return {
    prompt_tokens: answer.promptTokens,
    completion_tokens: completion,
    total_tokens: answer.promptTokens + completion,
  };
}

/** `POST /v1/chat/completions`, whole. */
export function chatCompletion(ask: EngineAsk, answer: EngineAnswer, engine: string): Json {
  const message = { role: "assistant", content: answer.tokens.join("") };
  return {
    id: "chatcmpl-test",
    object: "chat.completion",
    created: createdS,
    model: ask.model,
    system_fingerprint: engine,
    choices: [{ index: 0, message, logprobs: null, finish_reason: answer.finishReason }],
    usage: usageOf(answer),
  };
}

/** The same as a stream: role, tokens, reason, usage when asked for, `[DONE]`. */
export function chatEvents(
  ask: EngineAsk,
  answer: EngineAnswer,
  engine: string,
  usage: EngineUsageShape | undefined,
): Events {
  const chunk = (choices: unknown[], more: Json = {}) =>
    sseEvent({
      id: "chatcmpl-test",
      object: "chat.completion.chunk",
      created: createdS,
      model: ask.model,
      system_fingerprint: engine,
      choices,
      ...more,
    });
  const choice = (delta: Json, reason: string | null = null) => [
    { index: 0, delta, logprobs: null, finish_reason: reason },
  ];
  const every = (count: number) =>
    usage === "every"
      ? { usage: usageOf({ ...answer, tokens: answer.tokens.slice(0, count) }) }
      : {};
  const last = usage === "last" || usage === "every" ? { usage: usageOf(answer) } : {};
  return [
    chunk(choice({ role: "assistant", content: "" }), every(0)),
    ...answer.tokens.map((token, index) => chunk(choice({ content: token }), every(index + 1))),
    chunk(choice({}, answer.finishReason), last),
    ...(usage === "own" ? [chunk([], { usage: usageOf(answer) })] : []),
    sseEvent("[DONE]"),
  ];
}

/** `POST /v1/completions`, whole. */
export function textCompletion(ask: EngineAsk, answer: EngineAnswer): Json {
  const text = answer.tokens.join("");
  return {
    id: "cmpl-test",
    object: "text_completion",
    created: createdS,
    model: ask.model,
    choices: [{ index: 0, text, logprobs: null, finish_reason: answer.finishReason }],
    usage: usageOf(answer),
  };
}

/** The same as a stream. */
export function textEvents(
  ask: EngineAsk,
  answer: EngineAnswer,
  usage: EngineUsageShape | undefined,
): Events {
  const base = { id: "cmpl-test", object: "text_completion", created: createdS, model: ask.model };
  const choice = (text: string, reason: string | null) => [
    { index: 0, text, logprobs: null, finish_reason: reason },
  ];
  return [
    ...answer.tokens.map((token) => sseEvent({ ...base, choices: choice(token, null) })),
    sseEvent({ ...base, choices: choice("", answer.finishReason) }),
    ...(usage ? [sseEvent({ ...base, choices: [], usage: usageOf(answer) })] : []),
    sseEvent("[DONE]"),
  ];
}

/** `POST /v1/embeddings`: eight numbers that depend on the text; base64 of little-endian floats when asked. */
export function embeddingList(body: Json): Json {
  const inputs = Array.isArray(body.input) ? body.input.map(String) : [String(body.input ?? "")];
  const data = inputs.map((text, index) => ({
    object: "embedding",
    index,
    embedding: body.encoding_format === "base64" ? base64Of(vectorOf(text)) : [...vectorOf(text)],
  }));
  const tokens = inputs.join(" ").split(" ").length;
  const usage = { prompt_tokens: tokens, total_tokens: tokens };
  return { object: "list", model: body.model ?? "", data, usage };
}

/** The vector of a text, exact in 32 bits so that both encodings are equal. */
export function vectorOf(text: string): Float32Array<ArrayBuffer> {
  const vector = new Float32Array(8);
  for (let i = 0; i < text.length; i++) vector[i % 8] += text.charCodeAt(i) / 256;
  return vector;
}

function base64Of(vector: Float32Array<ArrayBuffer>): string {
  return btoa(String.fromCharCode(...new Uint8Array(vector.buffer)));
}

/** `POST /v1/rerank`: documents by how many words of the query they hold. */
export function rerankList(body: Json): Json {
  const words = String(body.query ?? "").toLowerCase().split(/\s+/);
  const documents = Array.isArray(body.documents) ? body.documents.map(String) : [];
  const results = documents.map((text, index) => ({
    index,
    document: { text },
    relevance_score: words.filter((word) => text.toLowerCase().includes(word)).length /
      words.length,
  }));
  results.sort((a, b) => b.relevance_score - a.relevance_score || a.index - b.index);
  return { id: "rerank-test", model: body.model ?? "", results, usage: { total_tokens: 1 } };
}
