// Do the official clients find in a mesh what they find at an engine, also when its workers are killed?
import { deepEqual, equal, ok } from "node:assert/strict";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { startProcessMesh } from "../support/process_mesh.ts";
import { within } from "../support/within.ts";

const model = "test-model";
const deadlineMs = 20_000;
const question = "what is the capital of Switzerland";
const fact = "The capital of Switzerland is Bern.";

Deno.test("a mesh serves the official clients, and their streams outlive a worker", async (t) => {
  const engine = { kind: "vllm", intervalMs: 20 } as const;
  await using mesh = await startProcessMesh([engine, engine]);
  const openai = new OpenAI({ apiKey: "k", baseURL: `${mesh.head.http}/v1`, maxRetries: 0 });
  const anthropic = new Anthropic({ apiKey: "k", baseURL: mesh.head.http, maxRetries: 0 });

  await t.step("Anthropic's messages, whole", async () => {
    const message = await anthropic.messages.create({
      model,
      max_tokens: 100,
      messages: [{ role: "user", content: question }],
    });
    deepEqual(message.content, [{ type: "text", text: fact }]);
    deepEqual([message.stop_reason, message.usage.output_tokens], ["end_turn", 6]);
  });

  await t.step("Anthropic's messages, streamed", async () => {
    const stream = anthropic.messages.stream({
      model,
      max_tokens: 100,
      messages: [{ role: "user", content: question }],
    });
    equal(await within(deadlineMs, stream.finalText()), fact);
  });

  await t.step("OpenAI's responses, whole, streamed, and one that builds on another", async () => {
    const first = await openai.responses.create({ model, input: question });
    equal(first.output_text, fact);
    const stream = openai.responses.stream({ model, input: question });
    equal((await within(deadlineMs, stream.finalResponse())).output_text, fact);
    const next = await openai.responses.create({
      model,
      input: question,
      previous_response_id: first.id,
    });
    equal(next.output_text, fact);
  });

  await t.step("OpenAI's chats, streamed, while their worker is killed", async () => {
    const words = Array.from({ length: 60 }, (_, index) => `word${index}`).join(" ");
    const streams = Array.from({ length: 4 }, () =>
      openai.chat.completions.stream({
        model,
        messages: [{ role: "user", content: words }],
        stream_options: { include_usage: true },
      }));
    const seen = Promise.withResolvers<void>();
    let count = 0;
    for (const stream of streams) stream.on("content", () => ++count === 40 && seen.resolve());
    await within(deadlineMs, seen.promise);
    await mesh.workers[0].node.kill();
    for (const stream of streams) {
      const completion = await within(deadlineMs, stream.finalChatCompletion());
      equal(completion.choices[0].message.content, `You said: ${words}`);
      equal(completion.choices[0].finish_reason, "stop");
      equal(completion.usage?.completion_tokens, 62);
    }
    const metrics = await (await fetch(`${mesh.head.http}/metrics`)).text();
    ok(/otela_stream_continuations_total\{[^}]*continued[^}]*\} [1-4]/.test(metrics), "counted");
  });
});
