import { deepEqual, equal, match, ok } from "node:assert/strict";
import { OtelaError } from "../../../lib/base/errors.ts";
import { errorOf, fixture, peer } from "./fixture.ts";

Deno.test("createClientDoor forwards OpenAI's paths to the service llm, when they are posted", async () => {
  const { ask, forwarded } = fixture();
  for (
    const path of [
      "/v1/chat/completions",
      "/v1/completions",
      "/v1/embeddings",
      "/v1/rerank",
      "/v1/messages",
      "/v1/responses",
      "/v1/responses/resp_1/cancel",
      "/v1/audio/transcriptions",
    ]
  ) {
    const response = await ask(`${path}?a=b`, { method: "POST", body: "{}" });
    equal(response.status, 200);
    const { target } = forwarded.at(-1)!;
    deepEqual(target, {
      kind: "service",
      service: "llm",
      path: `${path}?a=b`,
      publicPrefix: "/v1/service/llm",
    });
  }
});

Deno.test("createClientDoor answers 405 with Allow, when an endpoint does not know the method", async () => {
  const { ask, forwarded, refused } = fixture();
  for (
    const [method, path, allow] of [
      ["GET", "/v1/chat/completions", "POST, OPTIONS"],
      ["POST", "/v1/models", "GET, HEAD, OPTIONS"],
      ["DELETE", "/v1/models/a/b", "GET, HEAD, OPTIONS"],
      ["POST", "/v1/dnt/table", "GET, HEAD, OPTIONS"],
    ]
  ) {
    const response = await ask(path, { method });
    equal(response.status, 405);
    equal(response.headers.get("allow"), allow);
    equal((await errorOf(response)).code, "method_not_allowed");
  }
  equal(forwarded.length, 0);
  equal(refused.length, 4);
});

Deno.test("createClientDoor answers 404 as an OpenAI error, when nothing is at a path", async () => {
  const { ask } = fixture();
  for (
    const path of ["/", "/v1", "/v1/files", "/v1/service", "/v1/dnt/_node", "/chat/completions"]
  ) {
    const response = await ask(path, { method: "POST" });
    equal(response.status, 404, path);
    const error = await errorOf(response);
    equal(error.code, "no_such_endpoint");
    equal(error.type, "invalid_request_error");
  }
  match((await errorOf(await ask("/v1/v1/models"))).message, /it has two/);
});

Deno.test("createClientDoor keeps its own endpoints, whether or not a slash ends them", async () => {
  const { ask } = fixture();
  for (const path of ["/v1/health", "/v1/ready", "/v1/models", "/v1/dnt/stats", "/metrics"]) {
    equal((await ask(path)).status, 200, path);
    equal((await ask(`${path}/`)).status, 200, `${path}/`);
  }
});

Deno.test("createClientDoor answers HEAD with the length and no body, on each endpoint of GET", async () => {
  const { ask } = fixture();
  for (const path of ["/v1/health", "/v1/models", "/v1/dnt/table", "/metrics"]) {
    const whole = await ask(path);
    const bytes = (await whole.arrayBuffer()).byteLength;
    const head = await ask(path, { method: "HEAD" });
    equal(head.status, 200);
    equal(head.body, null);
    equal(head.headers.get("content-length"), String(bytes));
  }
});

Deno.test("createClientDoor is not ready and says why, when the mesh has not been joined", async () => {
  const { ask } = fixture({
    readiness: () => ({ isReady: false, reason: "no bootstrap answers" }),
  });
  const response = await ask("/v1/ready");
  equal(response.status, 503);
  equal(response.headers.get("retry-after"), "1");
  const error = await errorOf(response);
  equal(error.code, "not_ready");
  match(error.message, /no bootstrap answers/);
  equal((await ask("/v1/health")).status, 200);
});

Deno.test("createClientDoor echoes a sane request id and replaces any other, on every answer", async () => {
  const { ask, forwarded } = fixture();
  const echoed = async (path: string, headers: Record<string, string>) =>
    (await ask(path, { headers })).headers.get("x-request-id");
  for (const path of ["/v1/service/llm/x", "/v1/health", "/v1/nothing", "/v1/chat/completions"]) {
    equal(await echoed(path, { "x-request-id": "req_1:a" }), "req_1:a");
    equal(await echoed(path, { "x-otela-request-id": "otela.2" }), "otela.2");
    match((await echoed(path, { "x-request-id": "a b" }))!, /^test-/);
    match((await echoed(path, { "x-request-id": "x".repeat(129) }))!, /^test-/);
    match((await echoed(path, {}))!, /^test-/);
  }
  equal(forwarded[0].context.requestId, "req_1:a");
});

Deno.test("createClientDoor reaches nothing of a peer but its services", async () => {
  const { ask, forwarded } = fixture();
  const id = peer("B");
  for (
    const path of [`/v1/p2p/${id}/v1/_service/llm/a%2Fb?q=1`, `/v1/p2p-service/${id}/llm/a%2Fb?q=1`]
  ) {
    equal((await ask(path)).status, 200);
    const { target } = forwarded.at(-1)!;
    equal(target.kind === "peer" && target.peer, id);
    equal(target.path, "/a%2Fb?q=1");
    equal(target.publicPrefix + target.path, path);
  }
  for (
    const rest of ["", "/", "/v1/dnt/_node", "/v1/self", "/metrics", "/v1/p2p/x/v1/_service/llm/"]
  ) {
    equal((await ask(`/v1/p2p/${id}${rest}`)).status, 404, rest);
  }
  equal((await errorOf(await ask("/v1/p2p/nobody/v1/_service/llm/"))).code, "bad_peer_id");
  equal(forwarded.length, 2);
});

Deno.test("createClientDoor gives a foreseen failure its status, and the forwarder's own record", async () => {
  const failure = new OtelaError("no_candidate", "Cannot route", {
    fields: { retryAfterS: 7, attempts: 3, worker: peer("B") },
  });
  const { ask, records, refused } = fixture({
    forwarder: { forward: () => Promise.reject(failure) },
  });
  const response = await ask("/v1/service/llm/x?secret=1");
  equal(response.status, 503);
  equal(response.headers.get("retry-after"), "7");
  equal((await errorOf(response)).code, "no_candidate");
  deepEqual(refused, []);
  equal(records.length, 1);
  const { path, service, attempts, worker, outcome, status } = records[0];
  deepEqual({ path, service, attempts, worker, outcome, status }, {
    path: "/v1/service/llm/x",
    service: "llm",
    attempts: 3,
    worker: "AAAAAAAB",
    outcome: "no_candidate",
    status: 503,
  });
});

Deno.test("createClientDoor tells nothing but the request id, when something unforeseen is thrown", async () => {
  const { ask, logged } = fixture({
    forwarder: {
      forward: () => {
        throw new TypeError("secret 10.0.0.1");
      },
    },
  });
  const response = await ask("/v1/service/llm/x", { headers: { "x-request-id": "req-9" } });
  equal(response.status, 500);
  const error = await errorOf(response);
  equal(error.code, "internal_error");
  match(error.message, /req-9/);
  ok(!error.message.includes("secret"));
  equal(logged[0].event, "request.broke");
});

Deno.test("createClientDoor writes each request once, whoever answered it", async () => {
  const { ask, records } = fixture();
  await ask("/v1/health");
  await ask("/v1/nothing");
  await ask("/v1/service/llm/x"); // The forwarder writes this one.
  deepEqual(records.map(({ path, status, outcome }) => [path, status, outcome]), [
    ["/v1/health", 200, "ok"],
    ["/v1/nothing", 404, "rejected"],
  ]);
});

Deno.test("createClientDoor answers OPTIONS of its own endpoints, and forwards those of services", async () => {
  const { ask, forwarded } = fixture();
  const own = await ask("/v1/models", { method: "OPTIONS" });
  equal(own.status, 204);
  equal(own.headers.get("allow"), "GET, HEAD, OPTIONS");
  equal((await ask("/v1/service/llm/x", { method: "OPTIONS" })).status, 200);
  equal(forwarded.length, 1);
});
