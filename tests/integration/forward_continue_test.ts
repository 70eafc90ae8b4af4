import { deepEqual, equal, match } from "node:assert/strict";
import OpenAI from "openai";
import { startRawEngine } from "../support/engine_raw.ts";
import { chatOf, hearStream, startForwardRig } from "../support/forward_rig.ts";
import { within } from "../support/within.ts";

const chat = "/v1/chat/completions";
const deadlineMs = 20_000;
const usage = { stream_options: { include_usage: true } };

Deno.test("a stream whose worker dies anywhere is heard as one, for chats and completions", async () => {
  await using rig = startForwardRig();
  const asks = [
    { path: chat, body: chatOf(6, { stream: true, ...usage }) },
    {
      path: "/v1/completions",
      body: {
        model: "test-model",
        prompt: "count ",
        stream: true,
        x_engine: { tokens: 6 },
        ...usage,
      },
    },
  ];
  for (const { path, body } of asks) {
    const whole = await hearStream(await rig.post(path, body));
    equal(whole.text, "t0 t1 t2 t3 t4 t5");
    for (let cutAfter = 1; cutAfter <= 9; cutAfter++) {
      for (const isCutWithin of [false, true]) {
        rig.faults.push({ cutAfter, isCutWithin });
        const heard = await within(deadlineMs, hearStream(await rig.post(path, body)));
        deepEqual(heard, whole, `${path} cut at ${cutAfter}, ${isCutWithin}`);
      }
    }
  }
});

Deno.test("a stream that is cut once is heard as one, and is counted and written down", async () => {
  await using rig = startForwardRig();
  rig.engines[0].addFaults({ cutAfter: 4 });
  const response = await rig.post(chat, chatOf(9, { stream: true, ...usage }));
  const heard = await hearStream(response);
  deepEqual(heard, {
    text: "t0 t1 t2 t3 t4 t5 t6 t7 t8",
    ids: ["chatcmpl-test"],
    reasons: ["stop"],
    usage: { prompt_tokens: 1, completion_tokens: 9, total_tokens: 10 },
    errors: [],
    doneCount: 1,
    isClean: true,
  });
  const [record] = rig.records;
  deepEqual(
    [record.continuations, record.isUsageEstimated, record.outcome, record.attempts],
    [1, false, "ok", 2],
  );
  equal(rig.series.continuations.child("llm", "continued").value, 1);
  const asked = JSON.parse(rig.engines[1].log.requests.at(-1)!.bodyText);
  deepEqual(asked.messages.at(-1), { role: "assistant", content: "t0 t1 t2" });
  deepEqual([asked.continue_final_message, asked.add_generation_prompt], [true, false]);
});

Deno.test("a continued stream keeps its limit of tokens, and engines without a counter an estimate", async () => {
  for (const kind of ["vllm", "tgi"] as const) {
    await using rig = startForwardRig({
      engines: [{ kind }, { kind }],
      claim: { engine: { kind, version: "1", continues: true } },
    });
    rig.engines[0].addFaults({ cutAfter: 4 });
    const body = chatOf(20, { stream: true, max_tokens: 7, ...usage });
    const heard = await hearStream(await rig.post(chat, body));
    deepEqual([heard.text, heard.reasons], ["t0 t1 t2 t3 t4 t5 t6", ["length"]], kind);
    equal(heard.usage?.completion_tokens, 7);
    equal(rig.records[0].isUsageEstimated, kind === "tgi");
  }
});

Deno.test("a stream that stalls past its idle limit goes on elsewhere", async () => {
  await using rig = startForwardRig({ limits: { idleTimeoutMs: 400 } });
  rig.engines[0].addFaults({ stallAfter: 3 });
  const heard = await within(
    deadlineMs,
    hearStream(await rig.post(chat, chatOf(5, { stream: true }))),
  );
  deepEqual([heard.text, heard.doneCount], ["t0 t1 t2 t3 t4", 1]);
});

Deno.test("a stream that ends in the middle as if it were whole goes on elsewhere", async () => {
  await using rig = startForwardRig();
  rig.engines[0].addFaults({ endAfter: 3 });
  const heard = await hearStream(await rig.post(chat, chatOf(5, { stream: true })));
  deepEqual([heard.text, heard.doneCount, heard.isClean], ["t0 t1 t2 t3 t4", 1, true]);
});

Deno.test("what cannot be continued ends with an error in the stream and an unclean close", async () => {
  const engines = [{}, {}];
  const cases = [
    { name: "client says no", headers: { "x-otela-continue": "off" } },
    { name: "head is off", rig: { limits: { continuationsMax: 0 } } },
    { name: "service is off", rig: { limits: { noContinuation: new Set(["llm"]) } } },
    { name: "never twice", rig: { claim: { retry: "never" as const } } },
    {
      name: "engine cannot",
      rig: { claim: { engine: { kind: "tgi", version: "", continues: false } } },
    },
    { name: "logprobs", more: { logprobs: true } },
    { name: "format", more: { response_format: { type: "json_object" } } },
    { name: "stop begun", more: { stop: ["t2END"] } },
  ];
  for (const { name, headers, rig: changes, more } of cases) {
    await using rig = startForwardRig({ engines, ...changes });
    rig.engines[0].addFaults({ cutAfter: 4 });
    const response = await rig.post(chat, chatOf(9, { stream: true, ...more }), headers);
    const heard = await within(deadlineMs, hearStream(response));
    deepEqual([heard.text, heard.doneCount, heard.isClean], ["t0 t1 t2", 0, false], name);
    equal(heard.errors.length, 1, name);
    match(heard.errors[0].message, /worker/);
    equal(rig.engines[1].log.requests.length, 0, name);
    equal(rig.records[0].outcome, "worker_failed", name);
  }
});

Deno.test("a continued stream passes the official client's stream helper", async () => {
  await using rig = startForwardRig();
  const client = new OpenAI({ apiKey: "k", baseURL: `${rig.url}/v1`, maxRetries: 0 });
  rig.engines[0].addFaults({ cutAfter: 3, isCutWithin: true });
  const stream = client.chat.completions.stream({
    model: "test-model",
    messages: [{ role: "user", content: "hello out there my friend" }],
    stream_options: { include_usage: true },
  });
  const final = await within(deadlineMs, stream.finalChatCompletion());
  equal(final.choices[0].message.content, "You said: hello out there my friend");
  equal(final.choices[0].finish_reason, "stop");
  equal(final.usage?.completion_tokens, 7);
});

Deno.test("C009: usage is right in all three shapes, and nobody gets an event that was not asked for", async () => {
  await using rig = startForwardRig();
  for (const shape of ["own", "last", "every"] as const) {
    rig.engines[0].addFaults({ cutAfter: 4, usage: shape });
    rig.engines[1].addFaults({ usage: shape });
    for (const engine of rig.engines.slice(1)) engine.addFaults({ usage: shape });
    const heard = await hearStream(await rig.post(chat, chatOf(8, { stream: true })));
    for (const engine of rig.engines) engine.clearFaults();
    equal(heard.text, "t0 t1 t2 t3 t4 t5 t6 t7");
    deepEqual(heard.usage, { prompt_tokens: 1, completion_tokens: 8, total_tokens: 9 }, shape);
  }
  const plain = await hearStream(await rig.post(chat, chatOf(8, { stream: true })));
  equal(plain.usage, undefined);
});

Deno.test("a continued stream is right for every line end and for writes cut anywhere", async () => {
  await using rig = startForwardRig();
  const cases = [{ eol: "\r\n" }, { eol: "\r" }, { writeBytes: 7 }, {
    eol: "\r\n",
    writeBytes: 3,
  }] as const;
  for (const shape of cases) {
    const cutAfter = "writeBytes" in shape ? 250 : 4;
    rig.engines[0].addFaults({ ...shape, cutAfter });
    for (const engine of rig.engines.slice(1)) engine.addFaults({ ...shape });
    const body = chatOf(30, { stream: true, messages: [{ role: "user", content: "zähle 🎉" }] });
    const heard = await hearStream(await rig.post(chat, body));
    for (const engine of rig.engines) engine.clearFaults();
    equal(heard.text, Array.from({ length: 30 }, (_, n) => `t${n}`).join(" "));
    deepEqual([heard.doneCount, heard.isClean], [1, true], JSON.stringify(shape));
  }
});

Deno.test("a stream that says nothing for a MiB is passed on, not held", async () => {
  const head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
  const engine = await startRawEngine([
    { send: head },
    { send: `: ${"x".repeat(1_021)}\n\n`.repeat(1_100) },
    "stall",
  ]);
  await using rig = startForwardRig();
  rig.redirect(0, engine.url);
  rig.redirect(1, engine.url);
  try {
    const response = await within(deadlineMs, rig.post(chat, chatOf(5, { stream: true })));
    equal(response.status, 200);
    await response.body!.cancel();
    await within(deadlineMs, engine.clientGone(0));
  } finally {
    await engine.stop();
  }
});

Deno.test("an answer that HTTP has no form for is let go of, stream and all", async () => {
  const engine = await startRawEngine([
    { send: "HTTP/1.1 999 Odd\r\ncontent-type: text/plain\r\nconnection: close\r\n\r\nbegun" },
    "stall",
  ]);
  await using rig = startForwardRig();
  rig.redirect(0, engine.url);
  try {
    const response = await within(deadlineMs, rig.post(chat, chatOf(5)));
    equal(response.status, 200, "another engine answered");
    await response.body!.cancel();
    await within(deadlineMs, engine.clientGone(0));
  } finally {
    await engine.stop();
  }
});
