import { deepEqual, equal, ok } from "node:assert/strict";
import { seededRandom } from "../../lib/sim/seeded_random.ts";
import { chatOf, type ForwardRig, hearStream, startForwardRig } from "../support/forward_rig.ts";
import { eventually } from "../support/eventually.ts";
import { within } from "../support/within.ts";

const chat = "/v1/chat/completions";
const deadlineMs = 20_000;
const slow = (ms: number) => chatOf(1, { x_engine: { tokens: 1, firstMs: ms } });

function inFlight(rig: ForwardRig): number {
  return rig.peers.reduce(
    (sum, peer) => sum + rig.ports.book.inFlightCount({ peer, service: "llm" }),
    0,
  );
}

Deno.test("full workers are given no more than they take; the rest waits, and then is answered", async () => {
  await using rig = startForwardRig({ engines: [{}, {}], claim: { capacity: 2 } });
  const answers = Array.from({ length: 12 }, () => rig.post(chat, slow(60)));
  await eventually(() => Promise.resolve(rig.ports.admission.count === 8), 2_000);
  equal(inFlight(rig), 4);
  const statuses = (await within(deadlineMs, Promise.all(answers))).map(async (response) => {
    await response.body?.cancel();
    return response.status;
  });
  deepEqual(await Promise.all(statuses), Array(12).fill(200));
  deepEqual([inFlight(rig), rig.ports.admission.count], [0, 0]);
});

Deno.test("over the limit a client hears 429 at once, and at the end of its wait when nobody gets free", async () => {
  await using rig = startForwardRig({
    engines: [{}],
    claim: { capacity: 1 },
    admission: { queueMax: 1, queueWaitMs: 500 },
  });
  rig.engines[0].setHanging(true);
  const client = { authorization: "Bearer one" };
  const running = rig.post(chat, slow(1), client).catch(() => {});
  await eventually(() => Promise.resolve(inFlight(rig) === 1), 2_000);
  const waiting = rig.post(chat, slow(1), client);
  await eventually(() => Promise.resolve(rig.ports.admission.count === 1), 2_000);
  const startMs = performance.now();
  const refused = await rig.post(chat, slow(1), client);
  ok(performance.now() - startMs < 450, "sooner than the end of any wait");
  equal(refused.status, 429);
  ok(Number(refused.headers.get("retry-after")) >= 1);
  const { error } = await refused.json();
  deepEqual([error.code, error.type], ["too_many_requests", "rate_limit_error"]);
  const late = await within(deadlineMs, waiting);
  equal(late.status, 429);
  await late.body?.cancel();
  await rig.engines[0].stop();
  await running;
});

Deno.test("who is urgent goes first, and clients take turns", async () => {
  await using rig = startForwardRig({ engines: [{}], claim: { capacity: 1 } });
  const done: string[] = [];
  const ask = async (name: string, headers: Record<string, string>, ms = 20) => {
    const response = await rig.post(chat, slow(ms), headers);
    await response.body?.cancel();
    done.push(name);
  };
  const greedy = { authorization: "Bearer greedy" };
  const all = [ask("first", greedy, 400)];
  await eventually(() => Promise.resolve(inFlight(rig) === 1), 2_000);
  const waiting: [string, Record<string, string>][] = [
    ["greedy 1", greedy],
    ["greedy 2", greedy],
    ["greedy 3", greedy],
    ["modest", { authorization: "Bearer modest" }],
    ["urgent", { ...greedy, "x-otela-priority": "5" }],
  ];
  for (const [index, [name, headers]] of waiting.entries()) {
    all.push(ask(name, headers));
    await eventually(() => Promise.resolve(rig.ports.admission.count === index + 1), 2_000);
  }
  await within(deadlineMs, Promise.all(all));
  deepEqual(done, ["first", "urgent", "greedy 1", "modest", "greedy 2", "greedy 3"]);
});

Deno.test("C034: places are given back however a request ends: left, broken, refused, failed", async () => {
  await using rig = startForwardRig({ engines: [{}, {}], claim: { capacity: 4 } });
  const random = seededRandom(34);
  const one = async () => {
    const leaving = new AbortController();
    const kind = Math.floor(random() * 5);
    const faults = [{ cutAfter: 2 }, { status: 500 }, { status: 503 }, { endAfter: 0 }, {}];
    rig.faults.push(faults[kind]);
    const timer = setTimeout(() => leaving.abort(), random() * 50);
    const stream = random() < 0.5;
    const ms = Math.floor(random() * 40);
    try {
      const response = await fetch(`${rig.url}${chat}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        signal: leaving.signal,
        body: JSON.stringify(
          chatOf(4, { stream, x_engine: { tokens: 4, firstMs: ms, intervalMs: 2 } }),
        ),
      });
      await response.text();
    } catch {
      // It left, or its stream broke: that is what this is about.
    } finally {
      clearTimeout(timer);
    }
  };
  for (let batch = 0; batch < 30; batch++) {
    await within(deadlineMs, Promise.all(Array.from({ length: 20 }, one)));
  }
  rig.faults.length = 0;
  await eventually(
    () => Promise.resolve(inFlight(rig) === 0 && rig.ports.admission.count === 0),
    5_000,
  );
  equal(rig.ports.budget.runningCount, 0);
  // An engine that said 503 is left alone for a second, and both may have done so in the end.
  await eventually(async () => {
    const response = await rig.post(chat, slow(1));
    await response.body?.cancel();
    return response.status === 200;
  }, 5_000);
  const last = await Promise.all(Array.from({ length: 8 }, () => rig.post(chat, slow(30))));
  deepEqual(last.map(({ status }) => status), Array(8).fill(200));
  await Promise.all(last.map((response) => response.body?.cancel()));
});

Deno.test("a stream that is continued does not wait behind others for its place", async () => {
  await using rig = startForwardRig({ engines: [{}, {}], claim: { capacity: 1 } });
  const other = rig.post(chat, slow(1_500));
  await eventually(() => Promise.resolve(inFlight(rig) === 1), 2_000);
  rig.engines[1].addFaults({ cutAfter: 3 });
  rig.engines[0].addFaults();
  const heard = await within(1_400, hearStream(await rig.post(chat, chatOf(5, { stream: true }))));
  equal(heard.text, "t0 t1 t2 t3 t4");
  await (await other).body?.cancel();
});

Deno.test("a client that stops in the middle of its body is not waited for, and its request reaches nobody", async () => {
  await using rig = startForwardRig({ engines: [{}], limits: { bodyTimeoutMs: 200 } });
  const { port } = new URL(rig.url);
  using connection = await Deno.connect({ hostname: "127.0.0.1", port: Number(port) });
  const head = `POST ${chat} HTTP/1.1\r\nhost: h\r\ncontent-type: application/json\r\n`;
  await connection.write(new TextEncoder().encode(`${head}content-length: 100\r\n\r\n{"model":`));
  const answer = new Uint8Array(4_096);
  const size = await within(deadlineMs, connection.read(answer));
  const text = new TextDecoder().decode(answer.subarray(0, size ?? 0));
  ok(text.startsWith("HTTP/1.1 400"), text);
  ok(text.includes("more of its body did not come within 200 ms"), text);
  equal(rig.engines[0].log.requests.length, 0);
});
