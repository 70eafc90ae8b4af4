// Does a mesh of real processes serve the official client?
import { deepEqual, equal, ok } from "node:assert/strict";
import OpenAI, { toFile } from "openai";
import { startProcessMesh } from "../support/process_mesh.ts";
import { within } from "../support/within.ts";

const model = "swiss-chat";
const question = { role: "user" as const, content: "What is the capital of Switzerland?" };
const answer = "The capital of Switzerland is Bern.";

Deno.test("a mesh serves the official client: chat, stream, abort, models, embeddings, audio", async (t) => {
  await using mesh = await startProcessMesh([{ models: [model] }, { models: [model, "embed"] }]);
  const client = new OpenAI({ apiKey: "none", baseURL: `${mesh.head.http}/v1`, maxRetries: 0 });

  await t.step("a plain answer", async () => {
    const chat = await client.chat.completions.create({ model, messages: [question] });
    equal(chat.choices[0].message.content, answer);
    equal(chat.choices[0].finish_reason, "stop");
  });

  await t.step("a streamed answer, with its usage", async () => {
    const stream = await client.chat.completions.create({
      model,
      messages: [question],
      stream: true,
      stream_options: { include_usage: true },
    });
    let text = "";
    let usage: OpenAI.CompletionUsage | null | undefined;
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? "";
      usage = chunk.usage ?? usage;
    }
    equal(text, answer);
    ok(usage && usage.completion_tokens > 0);
  });

  await t.step("the stream helper, which is stricter", async () => {
    const stream = client.chat.completions.stream({ model, messages: [question] });
    equal(await stream.finalContent(), answer);
  });

  await t.step("an abort in the middle reaches the engine within a second", async () => {
    const stream = await client.chat.completions.create({
      model,
      messages: [question],
      stream: true,
      // deno-lint-ignore no-explicit-any -- an option of the test engine alone
      ...{ x_engine: { tokens: 2_000, intervalMs: 20 } } as any,
    });
    let seen = 0;
    for await (const _ of stream as unknown as AsyncIterable<unknown>) if (++seen === 3) break;
    const engines = mesh.workers.map(({ engine }) => engine.log);
    await within(1_000, Promise.any(engines.map((log) => log.waitForAborted(1))));
  });

  await t.step("models, with who serves them", async () => {
    const ids: string[] = [];
    for await (const { id } of client.models.list()) ids.push(id);
    deepEqual(ids, ["embed", model]);
    equal((await client.models.retrieve("embed")).id, "embed");
  });

  await t.step("embeddings, which only one worker has", async () => {
    const { data } = await client.embeddings.create({ model: "embed", input: ["a", "b"] });
    equal(data.length, 2);
    ok(data[0].embedding.length > 0);
  });

  await t.step("C031: a transcription, whose model stands in a form", async () => {
    const file = await toFile(new Uint8Array(100_000), "a.wav");
    const { text } = await client.audio.transcriptions.create({ model, file });
    ok(text.length > 0);
  });

  await t.step("a model that nobody offers is a 404", async () => {
    const asked = client.chat.completions.create({ model: "nothing", messages: [question] });
    const error = await asked.then(() => undefined, (thrown) => thrown);
    ok(error instanceof OpenAI.NotFoundError);
    equal(error.code, "model_not_found");
    ok(error.requestID);
  });
});
