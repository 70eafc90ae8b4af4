import { deepEqual, equal, match } from "node:assert/strict";
import { CompletionLog, whyNotContinued } from "../../../lib/usage/completion_log.ts";
import {
  type CompletionKind,
  readCompletionRequest,
} from "../../../lib/usage/completion_request.ts";
import type { CompletionRequest } from "../../../lib/usage/completion_request.ts";
import {
  closingEvents,
  decideContinuation,
  planContinuation,
} from "../../../lib/usage/continuation.ts";
import { Splice, spliceFactsOf } from "../../../lib/usage/splice.ts";
import { SseParser } from "../../../lib/usage/sse_parser.ts";
import { tokenCountOf, tokenizeCall, tokensCounted } from "../../../lib/usage/token_count.ts";
import { answer, promptTokens, type UsageShape } from "./token_stream.ts";

const encoder = new TextEncoder();
const tokens = ["One", " two", "\n\n", "three", " ", "four", " five"];
const shapes: readonly UsageShape[] = ["none", "own", "last", "every"];

function requestOf(kind: CompletionKind, more: Record<string, unknown> = {}): CompletionRequest {
  const asked = kind === "chat"
    ? { messages: [{ role: "user", content: "Count" }] }
    : { prompt: "Once" };
  const body = { model: "m", stream: true, ...asked, ...more };
  const verdict = readCompletionRequest(kind, encoder.encode(JSON.stringify(body)));
  if (!verdict.isContinuable) throw new Error(verdict.why);
  return verdict.request;
}

function logOf(kind: CompletionKind, events: readonly string[]): CompletionLog {
  const log = new CompletionLog(kind);
  for (const event of events) log.push(encoder.encode(event));
  log.read();
  return log;
}

/** What a client makes of a stream. */
function heard(kind: CompletionKind, events: string) {
  const chunks = new SseParser().push(encoder.encode(events)).map(({ data }) => data);
  const all = chunks.filter((data) => data !== "[DONE]").map((data) => JSON.parse(data));
  const choices = all.flatMap(({ choices }) => choices);
  return {
    text: choices.map((one) => (kind === "chat" ? one.delta.content : one.text) ?? "").join(""),
    ids: [...new Set(all.map(({ id }) => id))],
    models: [...new Set(all.map(({ model }) => model))],
    roles: choices.map((one) => one.delta?.role).filter((role) => role !== undefined),
    reasons: choices.map((one) => one.finish_reason).filter((reason) => reason !== null),
    usage: all.findLast(({ usage }) => usage)?.usage,
    doneCount: chunks.filter((data) => data === "[DONE]").length,
    isDoneLast: chunks.at(-1) === "[DONE]",
  };
}

/** The first engine dies before event `cut`; others go on, each dying after `each` more events. */
function broken(
  kind: CompletionKind,
  shape: UsageShape,
  cut: number,
  { request = requestOf(kind), each = Infinity, counted = true } = {},
): string {
  const first = answer({ kind, id: "A", tokens, shape }, request.fields);
  const log = new CompletionLog(kind);
  let seen = "";
  const pass = (text: string) => {
    seen += text;
    if (text !== "") log.push(encoder.encode(text));
  };
  pass(first.slice(0, cut).join(""));
  let isBroken = cut < first.length;
  for (let again = 0; isBroken; again++) {
    log.read();
    equal(whyNotContinued(request, log), undefined);
    const tokenCount = tokenCountOf(log, counted ? log.deltaCount : undefined).count;
    const closing = closingEvents(request, log, tokenCount);
    if (closing !== undefined) {
      pass(closing);
      break;
    }
    const plan = planContinuation(request, log, tokenCount);
    const splice = new Splice(request, spliceFactsOf(log, plan));
    const fields = JSON.parse(new TextDecoder().decode(plan.body));
    const rest = answer({ kind, id: `B${again}`, tokens, shape }, fields);
    // Ends in the end, as a bound on continuations makes it.
    const until = again < 4 ? each : Infinity;
    for (const event of rest.slice(0, until)) pass(splice.rewrite(encoder.encode(event)));
    isBroken = until < rest.length;
  }
  return seen;
}

for (const kind of ["chat", "text"] as const) {
  Deno.test(`a ${kind} stream that is cut anywhere is heard as if it had not been, in every shape`, () => {
    for (const shape of shapes) {
      const wanted = requestOf(
        kind,
        shape === "none" ? {} : {
          stream_options: { include_usage: true },
        },
      );
      const unbroken = answer({ kind, id: "A", tokens, shape }, wanted.fields);
      for (let cut = 1; cut <= unbroken.length; cut++) {
        const seen = broken(kind, shape, cut, { request: wanted });
        const [is, was] = [heard(kind, seen), heard(kind, unbroken.join(""))];
        deepEqual(is, was, `${shape} cut before event ${cut}`);
      }
    }
  });

  Deno.test(`a ${kind} stream that is cut again and again keeps its text, limit, reason and usage`, () => {
    for (const max_tokens of [3, 6, 7, 50]) {
      const request = requestOf(kind, { max_tokens, stream_options: { include_usage: true } });
      const unbroken = answer({ kind, id: "A", tokens, shape: "own" }, request.fields);
      for (let cut = 1; cut <= unbroken.length; cut++) {
        const seen = broken(kind, "own", cut, { request, each: 3 });
        deepEqual(heard(kind, seen), heard(kind, unbroken.join("")), `${max_tokens} at ${cut}`);
      }
    }
  });
}

Deno.test("planContinuation tells the engine the text so far, and leaves everything else as it was", () => {
  const request = requestOf("chat", { max_tokens: 10, min_tokens: 4, temperature: 0, user: "u" });
  const log = logOf(
    "chat",
    answer({ kind: "chat", id: "A", tokens, shape: "none" }, {
      messages: [{}],
    }).slice(0, 3),
  );
  const { body, blanks } = planContinuation(request, log, 2);
  deepEqual(JSON.parse(new TextDecoder().decode(body)), {
    model: "m",
    stream: true,
    messages: [{ role: "user", content: "Count" }, { role: "assistant", content: "One two" }],
    max_tokens: 8,
    min_tokens: 2,
    temperature: 0,
    user: "u",
    continue_final_message: true,
    add_generation_prompt: false,
  });
  equal(blanks, "");
});

Deno.test("planContinuation goes on with the message that the client had begun itself", () => {
  const request = requestOf("chat", {
    messages: [{ role: "user", content: "Count" }, { role: "assistant", content: "Zero " }],
    continue_final_message: true,
    add_generation_prompt: false,
  });
  const log = logOf("chat", ['data: {"choices":[{"index":0,"delta":{"content":"One"}}]}\n\n']);
  const fields = JSON.parse(new TextDecoder().decode(planContinuation(request, log, 1).body));
  deepEqual(fields.messages.at(-1), { role: "assistant", content: "Zero One" });
  equal(fields.messages.length, 2);
});

Deno.test("an answer that had only been opened is asked for anew", () => {
  const request = requestOf("chat");
  const log = logOf("chat", [
    'data: {"id":"A","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}\n\n',
  ]);
  deepEqual([log.hasSpoken, log.isOpened], [false, true]);
  const fields = JSON.parse(new TextDecoder().decode(planContinuation(request, log, 0).body));
  deepEqual(fields, request.fields);
});

Deno.test("C009: CompletionLog takes usage from all three shapes, the last value, never the sum", () => {
  for (const shape of ["own", "last", "every"] as const) {
    const events = answer({ kind: "chat", id: "A", tokens, shape }, { messages: [{}] });
    const log = logOf("chat", events);
    deepEqual(log.usage, { promptTokens, completionTokens: tokens.length }, shape);
    equal(log.stranger, undefined);
  }
});

Deno.test("CompletionLog keeps what it need not read, and forgets it when it is much", () => {
  const log = new CompletionLog("text");
  const event = encoder.encode(`data: {"choices":[{"index":0,"text":"${"x".repeat(1_000)}"}]}\n\n`);
  log.push(event);
  equal(log.text.length, 1_000);
  for (let n = 0; n < 10; n++) log.push(event);
  equal(log.text.length, 1_000);
  for (let n = 0; n < 100; n++) log.push(event);
  equal(log.text.length > 60_000, true);
});

Deno.test("whyNotContinued names what a second engine could not know", () => {
  const said = (choice: unknown) => `data: ${JSON.stringify({ choices: [choice] })}\n\n`;
  const cases: [RegExp, string][] = [
    [/tool_calls/, said({ index: 0, delta: { tool_calls: [{ index: 0 }] } })],
    [/reasoning_content/, said({ index: 0, delta: { reasoning_content: "hm" } })],
    [/reasoning/, said({ index: 0, delta: { reasoning: "hm" } })],
    [/logprobs/, said({ index: 0, delta: { content: "a" }, logprobs: { content: [] } })],
    [/first/, said({ index: 1, delta: { content: "a" } })],
    [/tool/, said({ index: 0, delta: {}, finish_reason: "tool_calls" })],
    [/reported an error/, 'data: {"error":{"message":"no memory"}}\n\n'],
    [/no choices/, 'data: {"type":"message_start"}\n\n'],
    [/no JSON/, "data: {broken\n\n"],
    [/several/, 'data: {"choices":[{"index":0},{"index":1}]}\n\n'],
    [/reasoning has begun/, said({ index: 0, delta: { content: "<think>hm" } })],
  ];
  for (const [why, event] of cases) {
    match(whyNotContinued(requestOf("chat"), logOf("chat", [event])) ?? "", why);
  }
  const stopping = requestOf("chat", { stop: ["\nEND", "##"] });
  const text = (content: string) => logOf("chat", [said({ index: 0, delta: { content } })]);
  match(whyNotContinued(stopping, text("so far\nEN")) ?? "", /stop/);
  match(whyNotContinued(stopping, text("a#")) ?? "", /stop/);
  equal(whyNotContinued(stopping, text("so far\nEND of")), undefined);
});

Deno.test("decideContinuation goes on only where it may, and tells why not", () => {
  const stream = {
    failure: "lane_closed",
    isClientGone: false,
    policy: "safe",
    count: 0,
    countMax: 3,
    why: undefined,
  } as const;
  deepEqual(decideContinuation(stream), { type: "continue" });
  deepEqual(decideContinuation({ ...stream, isClientGone: true }), { type: "stop" });
  for (
    const change of [
      { policy: "never" },
      { count: 3 },
      { countMax: 0 },
      { why: "tools" },
      { failure: "canceled" },
    ] as const
  ) equal(decideContinuation({ ...stream, ...change }).type, "fail", JSON.stringify(change));
});

Deno.test("Splice passes on what it does not understand", () => {
  const request = requestOf("chat");
  const log = logOf("chat", []);
  const splice = new Splice(request, spliceFactsOf(log, planContinuation(request, log, 0)));
  const event = 'data: {"error":{"message":"x"}}\n\n';
  equal(splice.rewrite(encoder.encode(event)), event);
  equal(
    splice.rewrite(encoder.encode("event: e\ndata: a\ndata: b\n\n")),
    "event: e\ndata: a\ndata: b\n\n",
  );
});

Deno.test("tokens are counted by the engine's usage, else by an engine, else by events", () => {
  const events = answer({ kind: "chat", id: "A", tokens, shape: "every" }, { messages: [{}] });
  deepEqual(tokenCountOf(logOf("chat", events.slice(0, 4)), 99), { count: 3, isEstimated: false });
  const plain = answer({ kind: "chat", id: "A", tokens, shape: "none" }, { messages: [{}] });
  const log = logOf("chat", plain.slice(0, 4));
  deepEqual(tokenCountOf(log, 7), { count: 7, isEstimated: false });
  deepEqual(tokenCountOf(log, undefined), { count: 3, isEstimated: true });
  const bytes = (value: unknown) => encoder.encode(JSON.stringify(value));
  equal(tokensCounted(bytes({ count: 4, tokens: [1] })), 4);
  equal(tokensCounted(bytes({ tokens: [1, 2] })), 2);
  for (const answered of [{}, { count: -1 }, { count: "4" }, null, { tokens: 3 }]) {
    equal(tokensCounted(bytes(answered)), undefined);
  }
  equal(tokenizeCall("tgi", "m", "text"), undefined);
  equal(tokenizeCall("vllm", "m", "text")?.path, "/tokenize");
});
