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
import { messageEvents, messageObject } from "./engine_messages.ts";
import { responseEvents, responseObject } from "./engine_responses.ts";
import { answerOf, askOf, type EngineAnswer, type EngineAsk, tokensOf } from "./engine_text.ts";
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
  /** What the next requests do instead, one each. */
  readonly faults: EngineOverride[];
  /** Never settles. */
  readonly hang: () => Promise<never>;
};

/** Answers that hang never settle; the client's abort ends them. */
export async function apiAnswer(call: EngineApiCall): Promise<Response> {
  if (call.endpoint === "/tokenize") return tokenized(call);
  const override = {
    ...(call.body.x_engine ?? {}) as EngineOverride,
    ...(call.faults.shift() ?? call.options.sharedFaults?.shift()),
  };
  const timing = {
    firstMs: override.firstMs ?? call.options.firstMs ?? 0,
    intervalMs: override.intervalMs ?? call.options.intervalMs ?? 0,
    cutAfter: override.cutAfter,
    isCutWithin: override.isCutWithin,
    endAfter: override.endAfter,
    stallAfter: override.stallAfter,
  };
  if (override.isHanging) await call.hang();
  if (override.status !== undefined) {
    const body = errorBody("The engine was told to fail", "told_to_fail", "server_error");
    const { status, retryAfter } = override;
    const headers = retryAfter === undefined ? undefined : { "retry-after": retryAfter };
    return Response.json(body, { status, headers });
  }
  const ask = askOf(call.body);
  if (!call.models.includes(ask.model)) {
    const body = errorBody(`The model "${ask.model}" does not exist`, "model_not_found");
    return Response.json(body, { status: 404 });
  }
  const answer = answerOf(ask, override.tokens ?? call.options.tokens);
  if (call.body.stream === true) {
    const plain = eventsOf(call, ask, answer, override);
    const events = plain && reshaped(plain, override);
    if (events) return sseResponse(sseBody(events, timing, call.watch));
  }
  const whole = wholeOf(call, ask, answer);
  if (!whole) return Response.json(errorBody("No such endpoint", "not_found"), { status: 404 });
  if (timing.firstMs > 0) await new Promise((done) => setTimeout(done, timing.firstMs));
  return Response.json(whole);
}

/** The same events with other line ends, or cut into writes anywhere. */
function reshaped(
  events: Uint8Array<ArrayBuffer>[],
  { eol = "\n", writeBytes }: EngineOverride,
): Uint8Array<ArrayBuffer>[] {
  const ended = eol === "\n"
    ? events
    : events.map((event) =>
      new TextEncoder().encode(new TextDecoder().decode(event).replaceAll("\n", eol))
    );
  if (writeBytes === undefined) return ended;
  return ended.flatMap((event) =>
    Array.from(
      { length: Math.ceil(event.length / writeBytes) },
      (_, index) => event.slice(index * writeBytes, (index + 1) * writeBytes),
    )
  );
}

/** Counts as vLLM, SGLang and llama.cpp do. */
function tokenized({ body }: EngineApiCall): Response {
  const tokens = tokensOf(String(body.prompt ?? body.content ?? "")).map((_, index) => index);
  return Response.json(body.prompt === undefined ? { tokens } : { count: tokens.length, tokens });
}

function eventsOf(
  call: EngineApiCall,
  ask: EngineAsk,
  answer: EngineAnswer,
  override: EngineOverride,
): Uint8Array<ArrayBuffer>[] | undefined {
  const options = call.body.stream_options as { include_usage?: boolean } | undefined;
  const usage = override.usage ?? (options?.include_usage === true ? "own" : undefined);
  switch (call.endpoint) {
    case "/v1/chat/completions":
      return chatEvents(ask, answer, call.name, usage);
    case "/v1/completions":
      return textEvents(ask, answer, usage);
    case "/v1/messages":
      return messageEvents(ask, answer);
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
    case "/v1/messages":
      return messageObject(ask, answer);
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
