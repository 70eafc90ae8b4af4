import { deepEqual, equal, match, ok } from "node:assert/strict";
import { createHash } from "node:crypto";
import { ClientKeys } from "../../../lib/access/client_keys.ts";
import { errorOf, fixture } from "./fixture.ts";

const key = "sk-otela-test";
const keys = ClientKeys.parse(createHash("sha256").update(key).digest("hex"), "keys");

Deno.test("createClientDoor asks for a key on all but health, when keys are set", async () => {
  const { ask, forwarded } = fixture({ keys });
  equal((await ask("/v1/health")).status, 200);
  for (const path of ["/v1/ready", "/v1/models", "/metrics", "/v1/dnt/table", "/v1/nothing"]) {
    const response = await ask(path);
    equal(response.status, 401, path);
    match(response.headers.get("www-authenticate")!, /^Bearer/);
    equal((await errorOf(response)).code, "unauthorized");
  }
  const wrong = await ask("/v1/service/llm/x", { headers: { authorization: "Bearer sk-wrong" } });
  equal(wrong.status, 401);
  ok(!(await errorOf(wrong)).message.includes("sk-wrong"));
  equal(forwarded.length, 0);
  for (
    const headers of [{ authorization: `Bearer ${key}` }, { authorization: `bearer  ${key} ` }]
  ) {
    equal((await ask("/v1/models", { headers })).status, 200);
  }
  equal((await ask("/v1/service/llm/x", { headers: { "x-api-key": key } })).status, 200);
});

Deno.test("createClientDoor answers a preflight without a key and without asking a worker", async () => {
  const { ask, forwarded } = fixture({ keys });
  const headers = {
    origin: "https://app.example",
    "access-control-request-method": "POST",
    "access-control-request-headers": "authorization, x-otela-identity-group",
  };
  const response = await ask("/v1/chat/completions", { method: "OPTIONS", headers });
  equal(response.status, 204);
  equal(response.headers.get("access-control-allow-origin"), "*");
  equal(response.headers.get("access-control-allow-credentials"), null);
  match(response.headers.get("access-control-allow-methods")!, /DELETE/);
  const allowed = response.headers.get("access-control-allow-headers")!.split(", ");
  for (const name of ["authorization", "x-otela-identity-group", "x-otela-allowed-peers"]) {
    ok(allowed.includes(name), name);
  }
  equal(forwarded.length, 0);
});

Deno.test("createClientDoor lets only configured origins read answers", async () => {
  const { ask } = fixture({ config: { corsOrigins: ["https://app.example"] } });
  const known = await ask("/v1/service/llm/", { headers: { origin: "https://app.example" } });
  equal(known.headers.get("access-control-allow-origin"), "https://app.example");
  equal(known.headers.get("access-control-allow-credentials"), null);
  equal(known.headers.get("vary"), "origin");
  match(known.headers.get("access-control-expose-headers")!, /x-request-id/);
  const foreign = await ask("/v1/service/llm/", { headers: { origin: "https://evil.example" } });
  equal(foreign.headers.get("access-control-allow-origin"), null);
  equal(foreign.headers.get("vary"), "origin");
});

Deno.test("createClientDoor opens no WebSocket for a page of a foreign origin", async () => {
  const { ask, forwarded } = fixture({ config: { corsOrigins: ["https://app.example"] } });
  const statusFor = async (origin: Record<string, string>) => {
    const headers = {
      upgrade: "websocket",
      connection: "upgrade",
      "sec-websocket-version": "13",
      "sec-websocket-key": "AAECAwQFBgcICQoLDA0ODw==",
      ...origin,
    };
    return (await ask("/v1/realtime", { headers })).status;
  };
  equal(await statusFor({ origin: "https://evil.example" }), 403);
  equal(forwarded.length, 0);
  equal(await statusFor({ origin: "https://app.example" }), 200);
  equal(await statusFor({}), 200);
  deepEqual(forwarded.map(({ context }) => context.isUpgrade), [true, true]);
});

Deno.test("createClientDoor hands no client's key on", async () => {
  const { ask, forwarded } = fixture();
  await ask("/v1/messages", { method: "POST", headers: { "x-api-key": key } });
  equal(forwarded[0].context.headers.includes(key), false);
});

Deno.test("createClientDoor lets only callers of this machine ask for this node's own service", async () => {
  const { ask, forwarded } = fixture();
  for (const from of ["127.0.0.1", "::1", "::ffff:127.0.0.1"]) {
    equal((await ask("/v1/_service/llm/v1/models", { from })).status, 200);
    equal(forwarded.at(-1)!.target.kind, "local");
  }
  for (const from of ["10.0.0.9", "::ffff:10.0.0.9", "2001:db8::1", "127.evil.example"]) {
    const response = await ask("/v1/_service/llm/v1/models", { from });
    equal(response.status, 403);
    equal((await errorOf(response)).code, "forbidden");
  }
  equal(forwarded.length, 3);
});
