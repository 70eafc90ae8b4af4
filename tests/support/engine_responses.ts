// Which shapes does OpenAI's Responses API have?
import type { EngineAnswer, EngineAsk } from "./engine_text.ts";
import { sseEvent } from "./engine_sse.ts";

type Json = Record<string, unknown>;

const createdS = 1_760_000_000;
const itemId = "msg_test";

/** `POST /v1/responses`, whole. */
export function responseObject(ask: EngineAsk, answer: EngineAnswer): Json {
  return responseOf(ask, "completed", [itemOf(answer.tokens.join(""))], answer);
}

function responseOf(ask: EngineAsk, status: string, output: Json[], answer?: EngineAnswer): Json {
  return {
    id: "resp_test",
    object: "response",
    created_at: createdS,
    status,
    error: null,
    incomplete_details: null,
    model: ask.model,
    output,
    parallel_tool_calls: true,
    tools: [],
    usage: answer && {
      input_tokens: answer.promptTokens,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: answer.tokens.length,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: answer.promptTokens + answer.tokens.length,
    },
  };
}

function partOf(text: string): Json {
  return { type: "output_text", text, annotations: [] };
}

function itemOf(text: string): Json {
  const content = [partOf(text)];
  return { type: "message", id: itemId, role: "assistant", status: "completed", content };
}

/** The same as a stream of named, numbered events; it has no `[DONE]`. */
export function responseEvents(ask: EngineAsk, answer: EngineAnswer): Uint8Array<ArrayBuffer>[] {
  const text = answer.tokens.join("");
  const at = { item_id: itemId, output_index: 0, content_index: 0 };
  const begun = { ...itemOf(""), status: "in_progress", content: [] };
  const events: [string, Json][] = [
    ["response.created", { response: responseOf(ask, "in_progress", []) }],
    ["response.in_progress", { response: responseOf(ask, "in_progress", []) }],
    ["response.output_item.added", { output_index: 0, item: begun }],
    ["response.content_part.added", { ...at, part: partOf("") }],
    ...answer.tokens.map((delta): [string, Json] => [
      "response.output_text.delta",
      { ...at, delta, logprobs: [] },
    ]),
    ["response.output_text.done", { ...at, text, logprobs: [] }],
    ["response.content_part.done", { ...at, part: partOf(text) }],
    ["response.output_item.done", { output_index: 0, item: itemOf(text) }],
    ["response.completed", { response: responseObject(ask, answer) }],
  ];
  return events.map(([type, data], index) =>
    sseEvent({ type, sequence_number: index, ...data }, type)
  );
}
