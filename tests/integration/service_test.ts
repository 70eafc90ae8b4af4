// Does a node claim what is true of its engines, and nothing else?
import { deepEqual, equal, ok, rejects, throws } from "node:assert/strict";
import { join } from "node:path";
import type { Upstream } from "../../lib/exchange/upstream.ts";
import type { ServiceSet } from "../../lib/service/service_set.ts";
import { startEngine } from "../support/engine.ts";
import { startEngineProcess } from "../support/engine_process.ts";
import { startRawEngine } from "../support/engine_raw.ts";
import { claimsUntil, newServiceSet, nextClaims, quickService } from "../support/engine_watch.ts";
import { callPool } from "../support/pool_call.ts";

const groupsOf = (set: ServiceSet) => set.claims().map((claim) => claim.identityGroups);
const isEmpty = (claims: readonly unknown[]) => claims.length === 0;
const isFull = (claims: readonly unknown[]) => claims.length > 0;

// On Deno 2.7.11 timers that packages keep count as leaks.
const test = (name: string, fn: () => Promise<void>) =>
  Deno.test({ name, fn, sanitizeOps: false, sanitizeResources: false });

test("ServiceSet advertises models as they appear and disappear", async () => {
  const engine = startEngine({ models: ["b", "a"], kind: "vllm" });
  const set = newServiceSet();
  set.add(quickService({ port: engine.port, identity_group: ["tier=gold"], capacity: 7 }));
  deepEqual(await claimsUntil(set, isFull), [{
    name: "llm",
    identityGroups: ["tier=gold", "model=a", "model=b"],
    state: "ready",
    engine: { kind: "vllm", version: "0.11.2", continues: true },
    capacity: 7,
    retry: "safe",
  }]);
  engine.setModels(["a", "b", "lora"]);
  await nextClaims(set);
  deepEqual(groupsOf(set), [["tier=gold", "model=a", "model=b", "model=lora"]]);
  engine.setModels(["b"]);
  await nextClaims(set);
  deepEqual(groupsOf(set), [["tier=gold", "model=b"]]);
  await set.close();
  await engine.stop();
});

test("ServiceSet withdraws a killed engine after its checks, and brings it back with its groups", async () => {
  const first = await startEngineProcess(["--models", "a,b", "--kind", "sglang"]);
  const set = newServiceSet();
  set.add(quickService({ port: first.port }));
  const ready = await claimsUntil(set, isFull);
  await first.stop();
  await claimsUntil(set, isEmpty);
  const [status] = set.list();
  equal(status.phase, "withdrawn");
  equal(status.failures, 3);
  match(status.reason, /ECONNREFUSED|refused/);
  const second = await startEngineProcess([
    "--models",
    "a,b",
    "--kind",
    "sglang",
    "--port",
    String(first.port),
  ]);
  deepEqual(await claimsUntil(set, isFull), ready);
  await set.close();
  await second.stop();
});

test("ServiceSet tells models and kind of the engine that took over a port", async () => {
  const first = startEngine({ models: ["old"], kind: "vllm" });
  const set = newServiceSet();
  set.add(quickService({ port: first.port }));
  await claimsUntil(set, isFull);
  await first.stop();
  const second = startEngine({ models: ["new"], kind: "sglang", port: first.port });
  const isNew = (
    [claim]: readonly { identityGroups: readonly string[]; engine: { kind: string } }[],
  ) => claim?.identityGroups[0] === "model=new" && claim.engine.kind === "sglang";
  await claimsUntil(set, isNew);
  await set.close();
  await second.stop();
});

test("ServiceSet keeps asking an engine that starts late, and one whose list comes late", async () => {
  const reserved = startEngine();
  await reserved.stop();
  const set = newServiceSet();
  set.add(quickService({ port: reserved.port }));
  const engine = startEngine({ port: reserved.port });
  engine.setModelsStatus(503);
  await engine.log.waitFor((request) => request.path === "/v1/models");
  deepEqual(set.claims(), []);
  engine.setModelsStatus(200);
  await claimsUntil(set, isFull);
  await set.close();
  await engine.stop();
});

test("ServiceSet keeps the last models while their list fails, for as long as checks may fail", async () => {
  const engine = startEngine({ models: ["a"] });
  const set = newServiceSet();
  set.add(quickService({ port: engine.port, health_failures: 2 }));
  await claimsUntil(set, isFull);
  engine.setModelsStatus(500);
  const failed = () =>
    engine.log.requests.filter((request) => request.path === "/v1/models").length;
  const before = failed();
  await engine.log.waitFor(() => failed() === before + 1);
  deepEqual(groupsOf(set), [["model=a"]]);
  await claimsUntil(set, isEmpty);
  engine.setModelsStatus(200);
  await claimsUntil(set, isFull);
  deepEqual(groupsOf(set), [["model=a"]]);
  await set.close();
  await engine.stop();
});

test("ServiceSet says nothing while nothing changes", async () => {
  const engine = startEngine({ models: ["a"] });
  const set = newServiceSet();
  let changes = 0;
  set.subscribe(() => changes++);
  set.add(quickService({ port: engine.port }));
  await claimsUntil(set, isFull);
  const lists = () => engine.log.requests.filter((request) => request.path === "/v1/models").length;
  await engine.log.waitFor(() => lists() >= 5);
  equal(changes, 1);
  await set.close();
  await engine.stop();
});

test("ServiceSet.remove ends a check that hangs", async () => {
  const engine = await startRawEngine(["stall"]);
  const set = newServiceSet();
  set.add(quickService({ name: "other", port: engine.port }));
  await engine.headSeen(0);
  await set.remove("other");
  await engine.clientGone(0);
  await rejects(set.remove("other"), { code: "no_such_service" });
  await set.close();
  await engine.stop();
});

test("ServiceSet reaches an engine on a Unix socket, with its key and headers", async () => {
  const directory = await Deno.makeTempDir();
  const path = join(directory, "engine.sock");
  const engine = startEngine({ unixPath: path, apiKey: "secret", models: ["a"] });
  const set = newServiceSet();
  set.add(
    quickService({ socket: path, upstream_key: "secret", upstream_headers: { "x-org": "o" } }),
  );
  await claimsUntil(set, isFull);
  const upstream: Upstream = set.upstreamOf("llm")!;
  const { headers } = await engine.log.waitFor((request) => request.path === "/v1/models");
  deepEqual(new Map(headers).get("x-org"), "o");
  const answer = await callPool(upstream.pool, {
    path: `${upstream.basePath}/v1/models`,
    headers: upstream.headers,
  });
  equal(answer.status, 200);
  await answer.body;
  await set.close();
  await engine.stop();
  await Deno.remove(directory, { recursive: true });
});

test("ServiceSet keeps an engine whose key is wrong unadvertised, and says why", async () => {
  const engine = startEngine({ apiKey: "secret" });
  const set = newServiceSet();
  set.add(quickService({ port: engine.port, upstream_key: "wrong-key" }));
  const lists = () => engine.log.requests.filter((request) => request.path === "/v1/models").length;
  await engine.log.waitFor(() => lists() >= 2);
  const [status] = set.list();
  deepEqual([status.phase, set.claims()], ["starting", []]);
  match(status.reason, /401/);
  ok(!JSON.stringify(set.list()).includes("wrong-key"));
  await set.close();
  await engine.stop();
});

test("ServiceSet offers several services, each under its own name", async () => {
  const llm = startEngine({ models: ["a"] });
  const other = startEngine();
  const set = newServiceSet();
  set.add(quickService({ port: llm.port }));
  set.add(quickService({ name: "echo", url: other.url, identity_group: ["all"], retry: "never" }));
  await claimsUntil(set, (claims) => claims.length === 2);
  deepEqual(set.claims().map((claim) => [claim.name, claim.identityGroups, claim.retry]), [
    ["echo", ["all"], "never"],
    ["llm", ["model=a"], "safe"],
  ]);
  ok(other.log.requests.every((request) => request.path === "/health"));
  throws(() => set.add(quickService({ port: llm.port })), { code: "bad_request" });
  await set.remove("echo");
  deepEqual(set.claims().map((claim) => claim.name), ["llm"]);
  equal(set.upstreamOf("echo"), undefined);
  await set.close();
  throws(() => set.add(quickService({ port: llm.port })), { code: "node_stopping" });
  await llm.stop();
  await other.stop();
});

test("ServiceSet.remove lets a running exchange end, and close ends it", async () => {
  const engine = startEngine();
  const set = newServiceSet();
  const service = quickService({ name: "echo", port: engine.port });
  const callOf = (path: string) => {
    return callPool(set.upstreamOf("echo")!.pool, { path });
  };
  set.add(service);
  const short = await callOf("/slow?n=2&interval=100");
  await set.remove("echo");
  equal(await short.text(), "piece0\npiece1\n");
  set.add(service);
  const long = await callOf("/slow?n=2&interval=60000");
  await set.remove("echo");
  const broken = rejects(long.text());
  await set.close();
  await broken;
  await engine.stop();
});

function match(text: string | null, pattern: RegExp): void {
  ok(pattern.test(text ?? ""), `${text} must match ${pattern}`);
}

test("ServiceSet counts connections to engines, and requests that wait for one", async () => {
  const engine = startEngine();
  const set = newServiceSet();
  set.add(quickService({ port: engine.port }));
  await claimsUntil(set, isFull);
  const { pool } = set.upstreamOf("llm")!;
  engine.setHanging(true);
  const { waiting } = set.poolCounts();
  equal(waiting, 0);
  const asked = callPool(pool, { path: "/v1/chat/completions", method: "POST" })
    .catch(() => undefined);
  await engine.log.waitFor(({ path }) => path === "/v1/chat/completions");
  equal(set.poolCounts().connections, 1);
  await set.close();
  await asked;
  equal(set.poolCounts().connections, 0);
  await engine.stop();
});
