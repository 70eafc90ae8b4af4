// What happens to the exchanges of a lane, when one reads slowly, the connection breaks or the worker freezes?
import { deepEqual, equal, ok } from "node:assert/strict";
import type { PeerId } from "../../lib/base/peer_id.ts";
import { MiB } from "../../lib/base/units.ts";
import type { BodyStream, ExchangeError } from "../../lib/exchange/types.ts";
import { LanePool } from "../../lib/exchange/lane_pool.ts";
import { WindowBudget } from "../../lib/lane/window.ts";
import { byteStreamPair } from "../support/byte_stream_pair.ts";
import { startEngine } from "../support/engine.ts";
import { bodyOf, failureOf, headOf, piecesOf, sha256, textOf } from "../support/exchange_calls.ts";
import { exchangePair, upstreamOf, workerPeer } from "../support/exchange_pair.ts";
import { patternBytes } from "../support/engine_wire.ts";
import { recordStream } from "../support/byte_stream_record.ts";
import { within } from "../support/within.ts";

const get = (path: string) => headOf(path);

function memoryBytes(): number {
  const { heapUsed, external } = Deno.memoryUsage();
  return heapUsed + external;
}

Deno.test("a slow reader of 256 MB costs little memory and does not slow the other exchanges of its lane", async () => {
  const engine = startEngine();
  {
    await using pair = exchangePair([upstreamOf(engine.url)]);
    await bodyOf(await pair.client.request(workerPeer, get("/bytes?n=10"), null).response);
    const before = memoryBytes();
    const total = 256_000_000;
    const { body } = await pair.client.request(workerPeer, get(`/bytes?n=${total}`), null).response;
    const reader = piecesOf({ body }).getReader();
    let [readBytes, memoryMax, slowest] = [0, 0, 0];
    for (let round = 0; round < 100; round++) {
      // Between two sips of the slow one, others are served: what the slow one may have in flight is in flight.
      const startMs = performance.now();
      const small = await pair.client.request(workerPeer, get("/bytes?n=270"), null).response;
      await bodyOf(small);
      slowest = Math.max(slowest, performance.now() - startMs);
      for (let sip = 0; sip < 4; sip++) readBytes += (await reader.read()).value?.length ?? 0;
      memoryMax = Math.max(memoryMax, memoryBytes() - before);
    }
    ok(readBytes < 10 * MiB);
    ok(memoryMax < 100 * MiB, `${memoryMax / MiB} MiB more`);
    ok(slowest < 500, `another exchange took ${slowest} ms`);
    // Read on at full speed: it is still whole.
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      readBytes += next.value.length;
    }
    equal(readBytes, total);
    equal(pair.budget.head.reservedBytes + pair.budget.worker.reservedBytes, 0);
  }
  await engine.stop();
});

Deno.test("a request's body goes no faster than its engine reads it", async () => {
  // An engine that takes the head and reads nothing.
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const taken = listener.accept();
  {
    await using pair = exchangePair([upstreamOf(`http://127.0.0.1:${listener.addr.port}`)]);
    let given = 0;
    let lastMs = performance.now();
    const body: BodyStream = new ReadableStream({
      pull(controller) {
        given += 65_536;
        lastMs = performance.now();
        controller.enqueue(new Uint8Array(65_536));
      },
    });
    const head = headOf("/", { method: "POST", bodyBytes: -1 });
    const exchange = pair.client.request(workerPeer, head, body);
    const connection = await taken;
    const quiet = Promise.withResolvers<void>();
    const timer = setInterval(() => {
      if (performance.now() - lastMs > 300) quiet.resolve();
    }, 50);
    await within(20_000, quiet.promise);
    clearInterval(timer);
    // What sockets hold, a window, and what streams hold on the way.
    ok(given < 32 * MiB, `${given} bytes were taken`);
    exchange.cancel("enough");
    equal((await failureOf(exchange.response)).failure, "canceled");
    connection.close();
  }
  listener.close();
});

Deno.test("a cut connection fails all its exchanges in one turn, each by how far it had come", async () => {
  const engine = startEngine();
  {
    await using pair = exchangePair([upstreamOf(engine.url)]);
    const open = get("/slow?n=1000&interval=1000&first=0");
    const streaming = await Promise.all(
      Array.from({ length: 50 }, () => pair.client.request(workerPeer, open, null).response),
    );
    const readers = streaming.map((answer) => piecesOf(answer).getReader());
    await Promise.all(readers.map((reader) => reader.read()));
    engine.setHanging(true);
    const ask = headOf("/v1/chat/completions", { method: "POST", bodyBytes: 2 });
    const waiting = Array.from(
      { length: 50 },
      () => pair.client.request(workerPeer, ask, new Uint8Array([123, 125])),
    );
    await engine.log.waitFor(({ id }) => id === 100);
    for (const { lanes, exchanges } of [pair.pool.counts(), pair.server.counts()]) {
      deepEqual([lanes, exchanges], [1, 100]);
    }
    const failures: ExchangeError[] = [];
    const all = Promise.all([
      ...waiting.map(async ({ response }) => failures.push(await failureOf(response))),
      ...readers.map(async (reader) => failures.push(await failureOf(reader.read()))),
    ]);
    pair.connections[0].cut(new Error("the cable was pulled"));
    await within(1_000, all);
    deepEqual(new Set(failures.map(({ failure }) => failure)), new Set(["lane_closed"]));
    deepEqual(
      failures.map(({ phase }) => phase).sort(),
      [...Array(50).fill("body"), ...Array(50).fill("sent")],
    );
    await within(1_000, engine.log.waitForAborted(100));
    engine.setHanging(false);
    const again = await pair.client.request(workerPeer, get("/bytes?n=10"), null).response;
    equal((await bodyOf(again)).length, 10);
    equal(pair.connections.length, 2);
    equal(pair.server.counts().exchanges + pair.calls.openCount, 0);
    equal(pair.budget.head.reservedBytes + pair.budget.worker.reservedBytes, 0);
  }
  await engine.stop();
});

Deno.test("a frozen worker is refused at once after 2 s, given up after 4, and tried again later", async () => {
  const engine = startEngine();
  {
    await using pair = exchangePair([upstreamOf(engine.url)]);
    const stream = get("/slow?n=1000&interval=50");
    const { body } = await pair.client.request(workerPeer, stream, null).response;
    const reader = piecesOf({ body }).getReader();
    await reader.read();
    const startMs = performance.now();
    pair.connections[0].hold();
    let refusedMs = 0;
    const attempt = setInterval(async () => {
      if (refusedMs > 0 || performance.now() - startMs > 3_500) return;
      const askedMs = performance.now();
      const exchange = pair.client.request(workerPeer, get("/bytes?n=1"), null);
      const error = await failureOf(exchange.response);
      if (error.phase === "not_sent" && performance.now() - askedMs < 100) {
        equal(error.failure, "lane_stalled");
        refusedMs = askedMs - startMs;
      }
    }, 100);
    const failure = await within(6_000, failureOf(drain(reader)));
    const failedMs = performance.now() - startMs;
    const atOnce = pair.client.request(workerPeer, get("/bytes?n=1"), null).response;
    clearInterval(attempt);
    deepEqual([failure.failure, failure.phase], ["lane_stalled", "body"]);
    ok(failedMs > 3_500 && failedMs < 5_000, `failed after ${failedMs} ms`);
    ok(refusedMs >= 1_500 && refusedMs < 2_600, `refused after ${refusedMs} ms`);
    deepEqual(pair.stalled, [workerPeer]);
    deepEqual((await failureOf(atOnce)).failure, "unreachable");
    pair.pool.forgive(workerPeer);
    const again = await pair.client.request(workerPeer, get("/bytes?n=1"), null).response;
    equal(again.status, 200);
    await bodyOf(again);
  }
  await engine.stop();
});

async function drain(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  while (!(await reader.read()).done);
}

Deno.test("bytes cut anywhere between head and worker change nothing", async () => {
  const engine = startEngine();
  {
    let turn = 0;
    const cutAt = () => 1 + (turn = (turn * 31 + 7) % 3_001);
    await using pair = exchangePair([upstreamOf(engine.url)], { cutAt, unsentBytesMax: 1 });
    const bodies = await Promise.all(
      [1, 1_500, 300_000].map(async (size) =>
        await bodyOf(await pair.client.request(workerPeer, get(`/bytes?n=${size}`), null).response)
      ),
    );
    deepEqual(bodies.map(sha256), [1, 1_500, 300_000].map((size) => sha256(patternBytes(0, size))));
  }
  await engine.stop();
});

Deno.test("a better path carries new exchanges, and the old lane ends on both sides when its last has ended", async () => {
  const engine = startEngine();
  {
    await using pair = exchangePair([upstreamOf(engine.url)], { isRelayed: true });
    const slow = pair.client.request(workerPeer, get("/slow?n=3&interval=50"), null);
    await slow.response;
    pair.pool.betterPath(workerPeer);
    const next = await pair.client.request(workerPeer, get("/bytes?n=1"), null).response;
    await bodyOf(next);
    equal(pair.connections.length, 2);
    equal((await textOf(await slow.response)).split("\n").length, 4);
    const ended = Promise.withResolvers<void>();
    const timer = setInterval(() => {
      if (pair.pool.counts().lanes === 1) ended.resolve();
    }, 20);
    await within(2_000, ended.promise);
    clearInterval(timer);
    equal(pair.server["lanes"].size, 1);
  }
  await engine.stop();
});

Deno.test("LanePool refuses a peer that was not reached for a moment, opens one lane for many, and closes what comes too late", async () => {
  const settings = {
    clock: { nowMs: () => nowMs },
    budget: new WindowBudget(),
    exchangesMax: 100,
  };
  let nowMs = 0;
  let openCount = 0;
  let next = Promise.withResolvers<ReturnType<typeof byteStreamPair>["a"]>();
  const pool = new LanePool(() => {
    openCount++;
    return next.promise;
  }, settings);
  const many = [pool.obtain(workerPeer), pool.obtain(workerPeer), pool.obtain(workerPeer)];
  next.reject(new Error("no route"));
  for (const one of many) equal((await failureOf(one)).failure, "unreachable");
  equal(openCount, 1);
  equal((await failureOf(pool.obtain(workerPeer))).phase, "not_sent");
  equal(openCount, 1);
  nowMs += 251;
  next = Promise.withResolvers();
  const late = pool.obtain(workerPeer);
  pool.close();
  const streams = byteStreamPair();
  const record = recordStream(streams.b);
  next.resolve(streams.a);
  equal((await failureOf(late)).failure, "unreachable");
  await within(1_000, record.closed);
  equal((await failureOf(pool.obtain(workerPeer))).failure, "unreachable");
});

Deno.test("LanePool forgets peers that were never reached, once they would be tried again", async () => {
  let nowMs = 0;
  const settings = {
    clock: { nowMs: () => nowMs },
    budget: new WindowBudget(),
    exchangesMax: 100,
  };
  const pool = new LanePool(() => Promise.reject(new Error("no route")), settings);
  for (let at = 0; at < 5_000; at++) {
    nowMs += 1;
    equal((await failureOf(pool.obtain(`gone ${at}` as PeerId))).failure, "unreachable");
  }
  ok(pool.peerCount <= 1_024, `${pool.peerCount} peers`);
  // The last ones are still refused without a try.
  equal((await failureOf(pool.obtain("gone 4999" as PeerId))).phase, "not_sent");
  pool.close();
});
