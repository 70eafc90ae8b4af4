// Which shapes does Anthropic's Messages API have?
import type { EngineAnswer, EngineAsk } from "./engine_text.ts";
import { sseEvent } from "./engine_sse.ts";

type Json = Record<string, unknown>;

/** `POST /v1/messages`, whole. */
export function messageObject(ask: EngineAsk, answer: EngineAnswer): Json {
  return {
    ...messageHead(ask, answer),
    content: [{ type: "text", text: answer.tokens.join("") }],
    stop_reason: stopReasonOf(answer),
    usage: { input_tokens: answer.promptTokens, output_tokens: answer.tokens.length },
  };
}

/** The same as a stream of named events. */
export function messageEvents(ask: EngineAsk, answer: EngineAnswer): Uint8Array<ArrayBuffer>[] {
  const event = (type: string, more: Json) => sseEvent({ type, ...more }, type);
  return [
    event("message_start", { message: messageHead(ask, answer) }),
    event("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
    ...answer.tokens.map((text) =>
      event("content_block_delta", { index: 0, delta: { type: "text_delta", text } })
    ),
    event("content_block_stop", { index: 0 }),
    event("message_delta", {
      delta: { stop_reason: stopReasonOf(answer), stop_sequence: null },
      usage: { output_tokens: answer.tokens.length },
    }),
    event("message_stop", {}),
  ];
}

function messageHead(ask: EngineAsk, answer: EngineAnswer): Json {
  return {
    id: "msg_test",
    type: "message",
    role: "assistant",
    model: ask.model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: answer.promptTokens, output_tokens: 0 },
  };
}

function stopReasonOf({ finishReason }: EngineAnswer): string {
  return finishReason === "stop" ? "end_turn" : "max_tokens";
}
