import { deepEqual, equal, match } from "node:assert/strict";
import { completionKindOf, readCompletionRequest } from "../../../lib/usage/completion_request.ts";

const encode = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
const chat = { model: "m", stream: true, messages: [{ role: "user", content: "hi" }] };
const text = { model: "m", stream: true, prompt: "Once" };

function whyNot(kind: "chat" | "text", fields: unknown): string {
  const verdict = readCompletionRequest(kind, encode(fields));
  return verdict.isContinuable ? "" : verdict.why;
}

Deno.test("completionKindOf knows the two endpoints, with and without a query", () => {
  equal(completionKindOf("/v1/chat/completions"), "chat");
  equal(completionKindOf("/v1/completions?x=/v1/chat/completions"), "text");
  equal(completionKindOf("/v1/responses"), undefined);
  equal(completionKindOf("/v1/chat/completions/x"), undefined);
});

Deno.test("readCompletionRequest reads what a continuation needs", () => {
  const verdict = readCompletionRequest(
    "chat",
    encode({
      ...chat,
      max_tokens: 9,
      max_completion_tokens: 7,
      stop: "END",
      stream_options: { include_usage: true },
      tools: [],
      n: 1,
      seed: 12,
      temperature: 0.5,
      response_format: { type: "text" },
    }),
  );
  equal(verdict.isContinuable, true);
  if (!verdict.isContinuable) return;
  const { tokensMax, wantsUsage, stops, model } = verdict.request;
  deepEqual({ tokensMax, wantsUsage, stops, model }, {
    tokensMax: 7,
    wantsUsage: true,
    stops: ["END"],
    model: "m",
  });
});

Deno.test("readCompletionRequest refuses everything that a second engine would answer otherwise", () => {
  const more: Record<string, unknown>[] = [
    { tools: [{ type: "function" }] },
    { functions: [{}] },
    { n: 2 },
    { best_of: 2 },
    { logprobs: true },
    { logprobs: 3 },
    { logprobs: 0 },
    { top_logprobs: 1 },
    { response_format: { type: "json_object" } },
    { response_format: { type: "json_schema", json_schema: {} } },
    { guided_json: {} },
    { guided_regex: "a+" },
    { structured_outputs: { choice: ["a"] } },
    { grammar: "root ::= a" },
    { suffix: "the end" },
    { echo: true },
    { include_reasoning: false },
    { audio: { voice: "x" } },
    { stream: false },
    { stop: [1] },
  ];
  for (const fields of more) {
    equal(whyNot("chat", { ...chat, ...fields }) === "", false, JSON.stringify(fields));
    equal(whyNot("text", { ...text, ...fields }) === "", false, JSON.stringify(fields));
  }
  equal(whyNot("chat", chat), "");
  equal(whyNot("text", text), "");
  equal(whyNot("text", { ...text, prompt: ["Once"] }), "");
  match(whyNot("text", { ...text, prompt: ["a", "b"] }), /prompt/);
  match(whyNot("text", { ...text, prompt: [1, 2, 3] }), /prompt/);
  match(whyNot("chat", { ...chat, messages: [] }), /messages/);
});

Deno.test("readCompletionRequest refuses a body that it could not write again exactly", () => {
  const raw = (body: string) => readCompletionRequest("text", new TextEncoder().encode(body));
  equal(raw('{"stream":true,"prompt":"a","seed":18446744073709551615}').isContinuable, false);
  equal(raw('{"stream":true,"prompt":"a","seed":9007199254740991}').isContinuable, true);
  equal(raw('{"stream":true,"prompt":"a","temperature":0.7}').isContinuable, true);
  equal(raw('{"stream":true,"prompt":').isContinuable, false);
  equal(readCompletionRequest("text", new Uint8Array([0xff])).isContinuable, false);
});
