// Do the questions to an engine keep their bounds, whatever it answers?
import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { EngineClient } from "../../lib/service/engine_client.ts";
import { createUpstream } from "../../lib/service/upstream.ts";
import { startEngine } from "../support/engine.ts";
import { startRawEngine } from "../support/engine_raw.ts";
import { quickService } from "../support/engine_watch.ts";
import { callPool } from "../support/pool_call.ts";

// On Deno 2.7.11 timers that packages keep count as leaks.
const test = (name: string, fn: () => Promise<void>) =>
  Deno.test({ name, fn, sanitizeOps: false, sanitizeResources: false });

test("EngineClient gives up on an engine that is silent, before and within its answer", async () => {
  const head = "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhe";
  const engine = await startRawEngine(["stall"], [{ send: head }, "stall"]);
  const client = new EngineClient(quickService({ port: engine.port }), 100);
  await rejects(client.get("/health"), { code: "timed_out", message: /\/health/ });
  await engine.clientGone(0);
  await rejects(client.get("/health"), { code: "timed_out" });
  await engine.clientGone(1);
  await client.close();
  await engine.stop();
});

test("EngineClient reads at most a mebibyte, and hangs up on more", async () => {
  const engine = startEngine();
  const client = new EngineClient(quickService({ port: engine.port }));
  equal((await client.get("/bytes?n=1000000")).text.length > 0, true);
  await rejects(client.get("/bytes?n=1000000000"), { code: "worker_failed" });
  const record = await engine.log.waitFor((request) => request.path.endsWith("1000000000"));
  equal(await record.outcome, "aborted");
  await client.close();
  await engine.stop();
});

test("EngineClient follows no redirect, and asks below the path of the URL", async () => {
  const engine = startEngine();
  const url = `${engine.url}/echo`;
  const client = new EngineClient(quickService({ url, upstream_key: "k" }));
  const echo = JSON.parse((await client.get("/health?x=1")).text);
  equal(echo.path, "/echo/health?x=1");
  equal(new Map(echo.headers).get("authorization"), "Bearer k");
  await client.close();
  const root = new EngineClient(quickService({ port: engine.port }));
  equal((await root.get("/redirect?to=/echo")).status, 307);
  await root.close();
  await engine.stop();
});

test("EngineClient.close ends the questions that run", async () => {
  const engine = await startRawEngine(["stall"]);
  const client = new EngineClient(quickService({ port: engine.port }));
  const asked = rejects(client.get("/health"));
  await engine.headSeen(0);
  await client.close();
  await asked;
  await engine.clientGone(0);
  await engine.stop();
});

test("createUpstream leaves a silent stream open, and its body as the engine sent it", async () => {
  const engine = startEngine();
  const limits = {
    connectTimeoutMs: 1_000,
    headTimeoutMs: 1_000,
    firstTokenTimeoutMs: 60_000,
    idleTimeoutMs: 1_000,
    connectionsMax: 4,
  };
  const { pool } = createUpstream(quickService({ port: engine.port }), limits);
  const get = (path: string) => callPool(pool, { path });
  const zipped = await (await get("/gzip")).body;
  deepEqual([zipped[0], zipped[1]], [0x1f, 0x8b]);
  // Longer than the limits, which belong to the callers.
  const slow = await get("/slow?n=2&interval=1200");
  ok((await slow.text()).endsWith("piece1\n"));
  await pool.close();
  await engine.stop();
});
