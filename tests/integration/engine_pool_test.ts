// Which connection does a request to an engine get, and what becomes of it?
import { deepEqual, equal, ok, rejects, throws } from "node:assert/strict";
import { lookup } from "node:dns/promises";
import type { EnginePool } from "../../lib/engine/engine_pool.ts";
import type { FailedAt } from "../../lib/engine/engine_request.ts";
import { startRawEngine } from "../support/engine_raw.ts";
import { eventually } from "../support/eventually.ts";
import { callPool, poolTo } from "../support/pool_call.ts";
import { within } from "../support/within.ts";

const ok2 = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
const textOf = async (pool: EnginePool, path: string) =>
  await (await callPool(pool, { path })).text();

/** A request whose body follows. */
function openRequest(pool: EnginePool, bodyBytes: number, first = new Uint8Array(0)) {
  const failed = Promise.withResolvers<{ error: Error; at: FailedAt }>();
  const status = Promise.withResolvers<number>();
  let takenBytes = 0;
  const request = pool.start(
    { method: "POST", path: "/", headers: [], bodyBytes },
    first,
    false,
    {
      replyHead: (given) => status.resolve(given),
      replyData: () => true,
      replyEnd: () => {},
      replyFailed: (error, at) => failed.resolve({ error, at }),
      bodyTaken: (bytes) => takenBytes += bytes,
    },
  );
  return { request, failed: failed.promise, status: status.promise, taken: () => takenBytes };
}

Deno.test("EnginePool uses one connection again, and another for what comes at the same time", async () => {
  const raw = await startRawEngine([{ send: ok2 }]);
  const pool = poolTo(raw.url);
  for (let i = 0; i < 3; i++) equal(await textOf(pool, `/${i}`), "ok");
  equal(raw.received.length, 1);
  await Promise.all([textOf(pool, "/a"), textOf(pool, "/b"), textOf(pool, "/c")]);
  ok(raw.received.length >= 2 && raw.received.length <= 4);
  await pool.close();
  deepEqual(pool.counts, { connections: 0, waiting: 0 });
  throws(
    () =>
      pool.start({ method: "GET", path: "/", headers: [], bodyBytes: 0 }, new Uint8Array(0), true, {
        replyHead: () => {},
        replyData: () => true,
        replyEnd: () => {},
        replyFailed: () => {},
        bodyTaken: () => {},
      }),
    { code: "node_stopping" },
  );
  await raw.stop();
});

Deno.test("EnginePool lets requests beyond its bound wait in their order", async () => {
  const raw = await startRawEngine([{ waitMs: 10 }, { send: ok2 }]);
  const pool = poolTo(raw.url, { connectionsMax: 2 });
  const all = Promise.all(Array.from({ length: 20 }, (_, i) => textOf(pool, `/${i}`)));
  deepEqual(pool.counts.waiting, 18);
  await all;
  equal(raw.received.length, 2);
  const order = raw.received.map((text) => [...text.matchAll(/GET \/(\d+)/g)].map(([, n]) => +n));
  for (const numbers of order) deepEqual(numbers, [...numbers].sort((a, b) => a - b));
  await pool.destroy();
  await raw.stop();
});

Deno.test("EnginePool does not use a connection again that its engine closed, or will", async () => {
  const raw = await startRawEngine(
    [{ send: ok2 }, "close"],
    [{ send: "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok" }],
    [{ send: "HTTP/1.1 200 OK\r\n\r\nok" }, "close"],
    [{ send: `${ok2}HTTP/1.1 200 OK\r\n` }],
    [{ send: ok2 }],
  );
  const pool = poolTo(raw.url);
  for (let i = 0; i < 5; i++) {
    equal(await textOf(pool, "/"), "ok");
    if (i < 4) await eventually(() => pool.counts.connections === 0);
  }
  equal(raw.received.length, 5);
  await pool.destroy();
  await raw.stop();
});

Deno.test("EnginePool closes a connection before an engine that says how long it keeps one", async () => {
  const raw = await startRawEngine([{
    send: "HTTP/1.1 200 OK\r\nconnection: keep-alive\r\nkeep-alive: timeout=2, max=5\r\n" +
      "content-length: 2\r\n\r\nok",
  }]);
  const pool = poolTo(raw.url);
  equal(await textOf(pool, "/"), "ok");
  await within(3_000, raw.clientGone(0));
  equal(pool.counts.connections, 0);
  await pool.close();
  await raw.stop();
});

Deno.test("EnginePool hears of an engine that closes after each answer before it asks again", async () => {
  const raw = await startRawEngine([{ send: ok2 }, "close"]);
  const pool = poolTo(raw.url);
  for (let i = 0; i < 50; i++) equal(await textOf(pool, "/"), "ok");
  equal(raw.received.length, 50);
  await pool.destroy();
  await raw.stop();
});

Deno.test("EnginePool never sends more or less of a body than was announced", async () => {
  const raw = await startRawEngine(["stall"]);
  const pool = poolTo(raw.url);
  const long = openRequest(pool, 3);
  long.request.send(new Uint8Array(4));
  ok(/longer/.test((await long.failed).error.message));
  const short = openRequest(pool, 3);
  short.request.send(new Uint8Array(2));
  await eventually(() => short.taken() === 2);
  short.request.finish();
  const { error, at } = await short.failed;
  ok(/shorter/.test(error.message));
  equal(at, "sent");
  // What came beside the head counts too: the rest would be another request to the engine.
  const smuggled = new TextEncoder().encode("abcGET /secret HTTP/1.1\r\n\r\n");
  throws(() => openRequest(pool, 3, smuggled), { code: "bad_request" });
  const whole = { method: "POST", path: "/", headers: [], bodyBytes: 5 };
  await rejects(async () => await callPool(pool, { ...whole, body: new Uint8Array(4) }), {
    code: "bad_request",
  });
  await pool.destroy();
  await raw.stop();
});

Deno.test("EnginePool says of a failure whether the engine can have seen the request", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  const nobody = poolTo(`http://127.0.0.1:${port}`);
  await rejects(callPool(nobody, { path: "/" }), { at: "connecting" });
  await nobody.destroy();

  const raw = await startRawEngine(["close"], ["stall"]);
  const pool = poolTo(raw.url, { connectionsMax: 1 });
  await rejects(callPool(pool, { path: "/" }), { at: "sent" });
  const running = rejects(callPool(pool, { path: "/" }), { at: "sent" });
  await raw.headSeen(1);
  const waiting = rejects(callPool(pool, { path: "/" }), { at: "waiting" });
  await pool.destroy();
  await Promise.all([running, waiting]);
  await raw.stop();
});

Deno.test("EnginePool finds an engine by name, whichever of its addresses it listens on", async () => {
  for (const { address: hostname } of await lookup("localhost", { all: true })) {
    const engine = Deno.serve({ hostname, port: 0, onListen: () => {} }, () => new Response("ok"));
    const pool = poolTo(`http://localhost:${engine.addr.port}`);
    equal(await textOf(pool, "/"), "ok");
    await pool.close();
    await engine.shutdown();
  }
});

Deno.test("EnginePool gives up on a connection that is not made in time", async () => {
  // Reserved for documentation (RFC 5737): nobody answers, and some networks say so at once.
  const pool = poolTo("http://192.0.2.77:9", { connectTimeoutMs: 100 });
  await within(5_000, rejects(callPool(pool, { path: "/" }), { at: "connecting" }));
  await pool.destroy();
});
