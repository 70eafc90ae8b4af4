// What does the test engine answer on `/v1/…`?
import {
  chatCompletion,
  chatEvents,
  embeddingList,
  errorBody,
  rerankList,
  textCompletion,
  textEvents,
} from "./engine_openai.ts";
import { responseEvents, responseObject } from "./engine_responses.ts";
import { answerOf, askOf, type EngineAnswer, type EngineAsk } from "./engine_text.ts";
import { type EngineStreamWatch, sseBody, sseResponse } from "./engine_sse.ts";
import type { EngineOptions, EngineOverride } from "./engine_options.ts";

type Json = Record<string, unknown>;

/** A POST on an OpenAI endpoint: what to answer, given the parsed body. */
export type EngineApiCall = {
  /** Without query. */
  readonly endpoint: string;
  readonly body: Json;
  readonly models: readonly string[];
  readonly name: string;
  readonly options: EngineOptions;
  readonly watch: EngineStreamWatch;
  /** Never settles. */
  readonly hang: () => Promise<never>;
};

/** Answers that hang never settle; the client's abort ends them. */
export async function apiAnswer(call: EngineApiCall): Promise<Response> {
  const override = (call.body.x_engine ?? {}) as EngineOverride;
  const timing = {
    firstMs: override.firstMs ?? call.options.firstMs ?? 0,
    intervalMs: override.intervalMs ?? call.options.intervalMs ?? 0,
    cutAfter: override.cutAfter,
  };
  if (override.isHanging) await call.hang();
  if (override.status !== undefined) {
    const body = errorBody("The engine was told to fail", "told_to_fail", "server_error");
    return Response.json(body, { status: override.status });
  }
  const ask = askOf(call.body);
  if (!call.models.includes(ask.model)) {
    const body = errorBody(`The model "${ask.model}" does not exist`, "model_not_found");
    return Response.json(body, { status: 404 });
  }
  const answer = answerOf(ask, override.tokens ?? call.options.tokens);
  if (call.body.stream === true) {
    const events = eventsOf(call, ask, answer);
    if (events) return sseResponse(sseBody(events, timing, call.watch));
  }
  const whole = wholeOf(call, ask, answer);
  if (!whole) return Response.json(errorBody("No such endpoint", "not_found"), { status: 404 });
  if (timing.firstMs > 0) await new Promise((done) => setTimeout(done, timing.firstMs));
  return Response.json(whole);
}

function eventsOf(
  call: EngineApiCall,
  ask: EngineAsk,
  answer: EngineAnswer,
): Uint8Array<ArrayBuffer>[] | undefined {
  const options = call.body.stream_options as { include_usage?: boolean } | undefined;
  const withUsage = options?.include_usage === true;
  switch (call.endpoint) {
    case "/v1/chat/completions":
      return chatEvents(ask, answer, call.name, withUsage);
    case "/v1/completions":
      return textEvents(ask, answer, withUsage);
    case "/v1/responses":
      return responseEvents(ask, answer);
  }
}

function wholeOf(call: EngineApiCall, ask: EngineAsk, answer: EngineAnswer): Json | undefined {
  switch (call.endpoint) {
    case "/v1/chat/completions":
      return chatCompletion(ask, answer, call.name);
    case "/v1/completions":
      return textCompletion(ask, answer);
    case "/v1/responses":
      return responseObject(ask, answer);
    case "/v1/embeddings":
      return embeddingList(call.body);
    case "/v1/rerank":
    case "/rerank":
      return rerankList(call.body);
  }
}

/** `POST /v1/audio/transcriptions` (multipart): names the file and its size back. */
export async function transcription(
  request: Request,
  models: readonly string[],
): Promise<Response> {
  const form = await request.formData();
  const [file, model] = [form.get("file"), String(form.get("model"))];
  if (!(file instanceof File) || !models.includes(model)) {
    return Response.json(errorBody("Wants a file and a known model", "bad_form"), { status: 400 });
  }
  return Response.json({ text: `heard ${file.size} bytes of ${file.name}` });
}
