import { deepEqual, equal, match, ok } from "node:assert/strict";
import { CompletionLog } from "../../lib/usage/completion_log.ts";
import { startRawEngine } from "../support/engine_raw.ts";
import { chatOf, hearStream, startForwardRig } from "../support/forward_rig.ts";
import { within } from "../support/within.ts";

const chat = "/v1/chat/completions";
const deadlineMs = 20_000;
const input = (name: string) =>
  Deno.readTextFileSync(new URL(`../cases/inputs/${name}`, import.meta.url));

Deno.test("C004: a heartbeat is one comment line between events; without the comments the bytes are the worker's", async () => {
  const { steps } = JSON.parse(input("C004-keepalive-form.chunks.json")) as {
    steps: { hex: string; then_pause_ms: number }[];
  };
  const pieces = steps.map(({ hex }) => Uint8Array.fromHex(hex));
  const raw = await startRawEngine([
    { send: "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n" },
    // A pause of 20 s beside a heartbeat of 15 s, a hundred times as fast.
    ...steps.flatMap((step, index) => [
      { send: pieces[index] },
      { waitMs: step.then_pause_ms / 100 },
    ]),
    "close",
  ]);
  await using rig = startForwardRig({ engines: [{}], limits: { keepAliveMs: 150 } });
  rig.redirect(0, raw.url);
  const response = await rig.post(chat, chatOf(1, { stream: true }));
  const text = await within(deadlineMs, response.text());
  const lines = text.split("\n");
  ok(lines.filter((line) => line.startsWith(":")).length >= 1);
  const worker = pieces.map((piece) => new TextDecoder().decode(piece)).join("");
  equal(lines.filter((line) => !line.startsWith(":")).join("\n"), worker);
  for (const block of text.split("\n\n")) {
    const first = block.split("\n").findIndex((line) => line.startsWith(":"));
    ok(first <= 0, `a comment within an event: ${block}`);
  }
  await raw.stop();
});

Deno.test("C011: a model that thinks for longer than the idle limit is waited for, and heartbeats keep its client", async () => {
  await using rig = startForwardRig({
    engines: [{}],
    limits: { idleTimeoutMs: 400, firstTokenTimeoutMs: 5_000, keepAliveMs: 100 },
    upstream: { idleTimeoutMs: 400, firstTokenTimeoutMs: 5_000 },
  });
  const body = chatOf(3, { stream: true, x_engine: { tokens: 3, firstMs: 1_200, intervalMs: 20 } });
  const response = await rig.post(chat, body);
  const reader = response.body!.getReader();
  const first = await within(deadlineMs, reader.read());
  equal(new TextDecoder().decode(first.value), ": keep-alive\n");
  reader.releaseLock();
  const heard = await within(deadlineMs, hearStream(response));
  deepEqual([heard.text, heard.doneCount, heard.isClean], ["t0 t1 t2", 1, true]);
});

Deno.test("C011: after the first token the idle limit counts, and a failure after an early head stands in the stream", async () => {
  await using rig = startForwardRig({
    engines: [{}],
    limits: { idleTimeoutMs: 300, keepAliveMs: 100, firstTokenTimeoutMs: 600 },
  });
  rig.engines[0].addFaults({ stallAfter: 3 }, { stallAfter: 0 }, { status: 400, firstMs: 400 });
  const stalled = await within(
    deadlineMs,
    hearStream(await rig.post(chat, chatOf(5, { stream: true }))),
  );
  equal(stalled.text, "t0 t1");
  deepEqual(stalled.errors.map(({ code }) => code), ["timed_out"]);
  const never = await within(
    deadlineMs,
    hearStream(await rig.post(chat, chatOf(5, { stream: true }))),
  );
  deepEqual(never.errors.map(({ code }) => code), ["timed_out"]);
  equal(never.isClean, false);
  match(rig.records.map(({ outcome }) => outcome).join(), /^timed_out,timed_out/);
});

Deno.test("an answer that comes within the interval keeps its status, whatever the heartbeat", async () => {
  await using rig = startForwardRig({ engines: [{}], limits: { keepAliveMs: 2_000 } });
  rig.engines[0].addFaults({ status: 400 });
  const refused = await rig.post(chat, chatOf(2, { stream: true }));
  equal(refused.status, 400);
  equal((await refused.json()).error.code, "told_to_fail");
  const heard = await hearStream(await rig.post(chat, chatOf(2, { stream: true })));
  deepEqual([heard.text, heard.doneCount], ["t0 t1", 1]);
});

Deno.test("C009: the usage of a stream that tells it in every shape is its last, not a sum", () => {
  const log = new CompletionLog("chat");
  log.push(new TextEncoder().encode(input("C009-usage-shape.sse")));
  log.read();
  deepEqual(log.usage, { promptTokens: 11, completionTokens: 3 });
  deepEqual([log.text, log.isDone, log.stranger], ["ab", true, undefined]);
});
