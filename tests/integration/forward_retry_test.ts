import { deepEqual, equal, ok } from "node:assert/strict";
import { startRawEngine } from "../support/engine_raw.ts";
import { chatOf, hearStream, startForwardRig } from "../support/forward_rig.ts";
import { within } from "../support/within.ts";

const chat = "/v1/chat/completions";
const deadlineMs = 20_000;

Deno.test("C032: a worker without room hands the request on, and rests as long as it asks, up to a cap", async () => {
  await using rig = startForwardRig();
  const [first, second] = rig.engines;
  first.addFaults({ status: 429, retryAfter: "86400" });
  const response = await rig.post(chat, chatOf(3));
  equal(response.status, 200);
  equal(response.headers.get("x-engine"), second.name);
  await response.body?.cancel();
  const seat = { peer: rig.peers[0], service: "llm" };
  const nowMs = performance.now();
  equal(rig.ports.book.isCoolingDown(seat, nowMs + 29_000), true);
  equal(rig.ports.book.isCoolingDown(seat, nowMs + 31_000), false);
  equal(rig.ports.outliers.isOut(seat, nowMs), false); // 429 marks nobody dead.
});

Deno.test("C032: when every worker refuses, the client gets the last answer with the least wait", async () => {
  await using rig = startForwardRig();
  const [first, second, third] = rig.engines;
  first.addFaults({ status: 503, retryAfter: "9" });
  second.addFaults({ status: 429, retryAfter: "4" });
  third.addFaults({ status: 503, retryAfter: new Date(Date.now() + 60_000).toUTCString() });
  const response = await rig.post(chat, chatOf(3));
  equal(response.status, 503);
  equal(response.headers.get("retry-after"), "4");
  equal(response.headers.get("x-engine"), third.name);
  equal((await response.json()).error.code, "told_to_fail");
  deepEqual([rig.records.length, rig.records[0].attempts, rig.records[0].status], [1, 3, 503]);
});

Deno.test("an engine's other errors are its answer and are not asked for again", async () => {
  await using rig = startForwardRig();
  rig.engines[0].addFaults({ status: 500 });
  const response = await rig.post(chat, chatOf(3));
  equal(response.status, 500);
  await response.body?.cancel();
  equal(rig.engines[1].log.requests.length, 0);
});

Deno.test("an answer that is no stream is retried unseen when its worker dies in the middle", async () => {
  await using rig = startForwardRig();
  // The raw answer of the first breaks off; only its connection tells, since its head was 200.
  const broken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const serving = (async () => {
    using connection = await broken.accept();
    await connection.read(new Uint8Array(4_096));
    const head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n";
    await connection.write(new TextEncoder().encode(`${head}{"choices":`));
  })();
  const { port } = broken.addr as Deno.NetAddr;
  rig.redirect(0, `http://127.0.0.1:${port}`);
  const response = await within(deadlineMs, rig.post(chat, chatOf(3)));
  equal(response.status, 200);
  equal(response.headers.get("x-engine"), "engine-1");
  equal((await response.json()).choices[0].message.content, "t0 t1 t2");
  await serving;
  broken.close();
  deepEqual(rig.records.map(({ attempts, outcome }) => [attempts, outcome]), [[2, "ok"]]);
});

Deno.test("a request is never run twice where the service says so", async () => {
  await using rig = startForwardRig({ claim: { retry: "never" } });
  const [first, second] = rig.engines;
  first.addFaults({ status: 503 }, { cutAfter: 0 });
  for (const expected of [503, 200]) {
    const response = await rig.post(chat, chatOf(3));
    equal(response.status, expected);
    await response.body?.cancel();
  }
  equal(first.log.requests.length + second.log.requests.length, 2);
});

Deno.test("a client is told whether to ask again when nobody is left, as the service says", async () => {
  const asked = { safe: { "retry-after": "1" }, never: { "x-should-retry": "false" } };
  for (const retry of ["safe", "never"] as const) {
    await using rig = startForwardRig({ engines: [{}], claim: { retry } });
    rig.engines[0].addFaults({ cutAfter: 0 });
    const { status, headers, body } = await rig.post(chat, chatOf(3, { stream: true }));
    await body?.cancel();
    equal(status, 502);
    const told = [...headers].filter(([name]) => /^retry-after$|^x-should-retry$/.test(name));
    deepEqual(Object.fromEntries(told), asked[retry]);
  }
});

Deno.test("C007: a stream that ends without an event is asked for elsewhere, and is a failure if nobody has more", async () => {
  await using rig = startForwardRig();
  const silent = { endAfter: 0 };
  rig.engines[0].addFaults(silent);
  const heard = await hearStream(await rig.post(chat, chatOf(3, { stream: true })));
  equal(heard.text, "t0 t1 t2");
  for (const engine of rig.engines) engine.addFaults(silent);
  const response = await rig.post(chat, chatOf(3, { stream: true }));
  equal(response.status, 502);
  equal((await response.json()).error.code, "worker_failed");
});

Deno.test("C012: what breaks before it says anything is not heard of", async () => {
  await using rig = startForwardRig();
  // Its opening event leaves the engine, and the client still sees only the second one's.
  rig.engines[0].addFaults({ cutAfter: 1 });
  const response = await rig.post(chat, chatOf(3, { stream: true }));
  equal(response.headers.get("x-engine"), "engine-1");
  const heard = await hearStream(response);
  deepEqual([heard.text, heard.doneCount, heard.isClean], ["t0 t1 t2", 1, true]);
  for (const engine of rig.engines) engine.addFaults({ cutAfter: 1 });
  const failed = await rig.post(chat, chatOf(3, { stream: true }));
  equal(failed.status, 502);
  await failed.body?.cancel();
});

Deno.test("C012: after the first byte of a stream that cannot be continued nobody else is asked", async () => {
  await using rig = startForwardRig();
  rig.engines[0].addFaults({ cutAfter: 4 });
  const body = chatOf(9, { stream: true, tools: [{ type: "function", function: { name: "f" } }] });
  const heard = await hearStream(await rig.post(chat, body));
  deepEqual([heard.text, heard.doneCount, heard.isClean], ["t0 t1 t2", 0, false]);
  deepEqual(heard.errors.map(({ code }) => code), ["worker_failed"]);
  equal(rig.engines[1].log.requests.length, 0);
});

Deno.test("C037: an engine that takes requests and never answers gets one trial per rest", async () => {
  await using rig = startForwardRig({ limits: { headTimeoutMs: 300 } });
  const [dead] = rig.engines;
  dead.setHanging(true);
  for (let count = 0; count < 30; count++) {
    const response = await within(deadlineMs, rig.post(chat, chatOf(2)));
    equal(response.status, 200);
    await response.body?.cancel();
  }
  equal(dead.log.requests.length, 3);
  const seat = { peer: rig.peers[0], service: "llm" };
  equal(rig.ports.outliers.isOut(seat, performance.now()), true);
});

Deno.test("C037: when the only engine keeps failing, clients hear at once when to come back", async () => {
  await using rig = startForwardRig({ engines: [{}], limits: { headTimeoutMs: 300 } });
  rig.engines[0].setHanging(true);
  for (let count = 0; count < 3; count++) {
    const late = await rig.post(chat, chatOf(2));
    equal(late.status, 504);
    await late.body?.cancel();
  }
  const startMs = performance.now();
  const response = await rig.post(chat, chatOf(2));
  equal(response.status, 503);
  equal((await response.json()).error.code, "no_candidate");
  ok(Number(response.headers.get("retry-after")) >= 1);
  ok(performance.now() - startMs < 1_000);
});

Deno.test("a total outage costs at most 1.2 attempts per request", async () => {
  await using rig = startForwardRig();
  for (const engine of rig.engines) {
    engine.addFaults(...Array.from({ length: 300 }, () => ({ status: 503 })));
  }
  for (let count = 0; count < 200; count++) {
    await (await rig.post(chat, chatOf(1))).body?.cancel();
  }
  const attempts = rig.engines.reduce((sum, { log }) => sum + log.requests.length, 0);
  ok(attempts <= 240, `${attempts} attempts`);
});

Deno.test("X-Otela-Debug shows the candidates, their scores and why", async () => {
  await using rig = startForwardRig();
  const response = await rig.post(chat, chatOf(1), { "x-otela-debug": "1" });
  await response.body?.cancel();
  const { policy, candidates } = JSON.parse(response.headers.get("x-otela-route")!);
  equal(policy, "round-robin");
  deepEqual(candidates.map(({ peer }: { peer: string }) => peer), rig.peers);
  equal(candidates[0].why, "asked");
});

Deno.test("a worker whose streams keep breaking rests, although its answers begin well", async () => {
  await using rig = startForwardRig();
  const [first] = rig.engines;
  first.addFaults(...Array.from({ length: 50 }, () => ({ cutAfter: 3 })));
  for (let count = 0; count < 20; count++) {
    const heard = await hearStream(await rig.post(chat, chatOf(5, { stream: true })));
    equal(heard.text, "t0 t1 t2 t3 t4");
  }
  equal(first.log.requests.length, 3);
});

Deno.test("an answer of a service that is never held goes out as it comes", async () => {
  await using rig = startForwardRig({ engines: [{}], limits: { noHold: new Set(["llm"]) } });
  const raw = await startRawEngine([
    {
      send: 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"a":',
    },
    "stall",
  ]);
  rig.redirect(0, raw.url);
  const response = await within(deadlineMs, rig.post(chat, chatOf(1)));
  const reader = response.body!.getReader();
  const { value } = await within(deadlineMs, reader.read());
  equal(new TextDecoder().decode(value), '{"a":');
  await reader.cancel();
  await raw.stop();
});
