// Does the test engine do what the tests that lean on it believe?
import { headerOf } from "../../lib/base/header_list.ts";
import { deepEqual, equal, rejects } from "node:assert/strict";
import OpenAI from "openai";
import { benchAnswer } from "../support/engine_bench.ts";
import { startEngine } from "../support/engine.ts";
import { vectorOf } from "../support/engine_openai.ts";
import { startEngineProcess } from "../support/engine_process.ts";
import { canReset, startRawEngine } from "../support/engine_raw.ts";
import { callPool, poolTo } from "../support/pool_call.ts";
import { patternBytes } from "../support/engine_wire.ts";

const question = [{ role: "user" as const, content: "What is the capital of Switzerland?" }];

// On Deno 2.7.11 timers that packages keep count as leaks.
const test = (name: string, fn: () => Promise<void>) =>
  Deno.test({ name, fn, sanitizeOps: false, sanitizeResources: false });

test("startEngine answers the openai client, on every endpoint it speaks", async () => {
  const engine = startEngine({ models: ["a"], name: "e1" });
  const client = new OpenAI({ baseURL: `${engine.url}/v1`, apiKey: "none" });
  const chat = await client.chat.completions.create({ model: "a", messages: question });
  equal(chat.choices[0].message.content, "The capital of Switzerland is Bern.");

  const stream = await client.chat.completions.create({
    model: "a",
    messages: question,
    stream: true,
    stream_options: { include_usage: true },
  });
  let text = "";
  let tokens = 0;
  for await (const chunk of stream) {
    text += chunk.choices[0]?.delta.content ?? "";
    tokens += chunk.usage?.completion_tokens ?? 0;
  }
  deepEqual([text, tokens], ["The capital of Switzerland is Bern.", 6]);
  const helper = client.chat.completions.stream({ model: "a", messages: question });
  equal(await helper.finalContent(), text);

  const whole = await client.responses.create({ model: "a", input: "hello" });
  equal(whole.output_text, "You said: hello");
  const events = await client.responses.create({ model: "a", input: "hello", stream: true });
  const types: string[] = [];
  for await (const event of events) types.push(event.type);
  deepEqual([types[0], types.at(-1)], ["response.created", "response.completed"]);

  const embedding = await client.embeddings.create({ model: "a", input: "hello" });
  deepEqual(embedding.data[0].embedding, [...vectorOf("hello")]);
  const file = new File([new Uint8Array(10)], "a.wav");
  const heard = await client.audio.transcriptions.create({ model: "a", file });
  equal(heard.text, "heard 10 bytes of a.wav");
  deepEqual((await client.models.list()).data.map((model) => model.id), ["a"]);
  await rejects(client.chat.completions.create({ model: "b", messages: question }), {
    status: 404,
  });
  await engine.stop();
});

test("EngineLog tells which clients went away, and which stayed", async () => {
  const engine = startEngine({ intervalMs: 60_000 });
  const client = new OpenAI({ baseURL: `${engine.url}/v1`, apiKey: "none", maxRetries: 0 });
  const stream = await client.chat.completions.create({
    model: "test-model",
    messages: question,
    stream: true,
  });
  for await (const _ of stream) break;
  const streamed = await engine.log.waitFor((request) => request.path.startsWith("/v1/chat"));
  equal(await streamed.outcome, "aborted");

  engine.setHanging(true);
  const ending = new AbortController();
  const hanging = fetch(`${engine.url}/v1/any`, {
    method: "POST",
    body: "{}",
    signal: ending.signal,
  });
  const record = await engine.log.waitFor((request) => request.path === "/v1/any");
  ending.abort();
  await rejects(hanging);
  equal(await record.outcome, "aborted");

  await (await fetch(`${engine.url}/health`)).text();
  equal(
    await (await engine.log.waitFor((request) => request.path === "/health")).outcome,
    "completed",
  );
  await engine.log.waitForAborted(2);
  await engine.stop();
});

test("startEngine answers what tests a proxy, byte for byte", async () => {
  const engine = startEngine();
  const pool = poolTo(engine.url);
  const get = (path: string) => callPool(pool, { path });
  const body = new TextEncoder().encode("abc");
  const echo = await callPool(pool, { method: "PUT", path: "/echo/a%2Fb//c?x=%20", body });
  const seen: { path: string; method: string; bodyBytes: number } = JSON.parse(await echo.text());
  deepEqual([seen.path, seen.method, seen.bodyBytes], ["/echo/a%2Fb//c?x=%20", "PUT", 3]);
  for (const status of [204, 304]) {
    const answer = await get(`/status/${status}`);
    deepEqual([answer.status, await answer.text()], [status, ""]);
  }
  const limited = await get("/status/429?header=retry-after:2");
  equal(headerOf(limited.headers, "retry-after"), "2");
  await limited.body;
  const redirect = await get("/redirect?to=/x");
  deepEqual([redirect.status, headerOf(redirect.headers, "location")], [307, "/x"]);
  await redirect.body;
  deepEqual(await (await get("/bytes?n=200000")).body, patternBytes(0, 200_000));
  const zipped = await get("/gzip");
  equal(headerOf(zipped.headers, "content-encoding"), "gzip");
  await zipped.body;
  await rejects((await get("/sse?n=5&cut=2&interval=1")).text());
  await pool.destroy();

  const socket = new WebSocket(`${engine.url.replace("http", "ws")}/ws`, ["chat"]);
  const message = await new Promise<MessageEvent>((resolve) => {
    socket.onopen = () => socket.send("ping");
    socket.onmessage = resolve;
  });
  deepEqual([message.data, socket.protocol], ["ping", "chat"]);
  const closed = new Promise<CloseEvent>((resolve) => socket.onclose = resolve);
  socket.send("close");
  equal((await closed).code, 4000);
  await engine.stop();
});

test("startEngine in bench mode answers 270 bytes, and an event every so many ms", async () => {
  const engine = startEngine({ isBench: true, tokens: 3, intervalMs: 1 });
  const post = (body: string, query = "") =>
    fetch(`${engine.url}/v1/chat/completions${query}`, { method: "POST", body });
  equal(await (await post("{}")).text(), benchAnswer);
  equal(new TextEncoder().encode(benchAnswer).byteLength, 270);
  const events = (await (await post('{"stream":true}')).text()).trim().split("\n\n");
  equal(events.length, 4);
  const more = (await (await post('{"stream":true}', "?tokens=5&interval=1")).text()).trim();
  equal(more.split("\n\n").length, 6);
  await engine.stop();
});

test("startRawEngine sends exactly its bytes, resets, closes and stalls", async () => {
  const head = "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n";
  const engine = await startRawEngine(
    [{ send: `${head}hello` }],
    [{ send: `${head}he` }, canReset ? "reset" : "close"],
    [{ send: `${head}he` }, "close"],
    ["stall"],
  );
  const request = async (): Promise<string> => {
    const pool = poolTo(engine.url);
    try {
      return await (await callPool(pool, { path: "/" })).text();
    } finally {
      await pool.destroy();
    }
  };
  equal(await request(), "hello");
  await rejects(
    request(),
    (error: Error) =>
      (canReset ? /ECONNRESET|reset/i : /closed the connection within/).test(error.message),
  );
  await rejects(request(), (error: Error) => /closed the connection within/.test(error.message));
  const ending = new AbortController();
  const stalled = fetch(engine.url, { signal: ending.signal });
  await engine.headSeen(3);
  ending.abort();
  await rejects(stalled);
  await engine.clientGone(3);
  await engine.stop();
});

test("startEngineProcess changes while it runs, and ends when stopped", async () => {
  const engine = await startEngineProcess(["--models", "a,b", "--kind", "vllm"]);
  const models = async () => {
    const list = await (await fetch(`${engine.url}/v1/models`)).json();
    return list.data.map((model: { id: string }) => model.id);
  };
  deepEqual(await models(), ["a", "b"]);
  await engine.set({ models: ["c"] });
  deepEqual(await models(), ["c"]);
  await engine.stop();
  await rejects(fetch(engine.url));
});
