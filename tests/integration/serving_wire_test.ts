// Do bytes cross client door, mesh and worker as they are?
import { deepEqual, equal, ok } from "node:assert/strict";
import { createHash } from "node:crypto";
import { gunzipSync } from "node:zlib";
import { patternBytes } from "../support/engine_wire.ts";
import { startProcessMesh } from "../support/process_mesh.ts";
import { exchangeRaw } from "../support/raw_http.ts";
import { within } from "../support/within.ts";

const group = { "x-otela-identity-group": "model=test-model" };
const hashOf = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

Deno.test("a mesh carries requests and answers byte for byte", async (t) => {
  await using mesh = await startProcessMesh([{}]);
  const base = `${mesh.head.http}/v1/service/llm`;
  const [{ engine }] = mesh.workers;

  await t.step("C022: raw path and query reach the engine", async () => {
    const paths = ["/echo/a%2Fb.json?x=1%26&y=a+b", "/echo//double//slash", "/echo/a;v=1/b?q=%zz"];
    for (const path of paths) {
      const head = "host: x\r\nx-otela-identity-group: model=test-model\r\n\r\n";
      const { status, body } = await exchangeRaw(
        mesh.head.http,
        `GET /v1/service/llm${path} HTTP/1.1\r\n${head}`,
      );
      equal(status, 200);
      equal(JSON.parse(body).path, path);
    }
    equal(
      (await exchangeRaw(
        mesh.head.http,
        "GET /v1/service/llm/..%2fadmin HTTP/1.1\r\nhost: x\r\n\r\n",
      )).status,
      400,
    );
  });

  await t.step(
    "C017: a compressed answer stays as it is, whatever the client accepts",
    async () => {
      for (const accept of [undefined, "gzip", "identity", "br, gzip;q=0.5"]) {
        const accepts = accept === undefined ? "" : `accept-encoding: ${accept}\r\n`;
        const answer = await exchangeRaw(
          mesh.head.http,
          `GET /v1/service/llm/gzip HTTP/1.1\r\nhost: x\r\n${accepts}` +
            "x-otela-identity-group: model=test-model\r\n\r\n",
        );
        equal(answer.headers.get("content-encoding"), "gzip");
        equal(Number(answer.headers.get("content-length")), answer.bytes.length);
        equal(JSON.parse(gunzipSync(answer.bytes).toString()).engine, "engine");
      }
    },
  );

  await t.step(
    "C027: a body of known length keeps it, one of unknown length is chunked",
    async () => {
      for (const size of [1, 1_500, 1_000_000, 20_000_000]) {
        const body = patternBytes(0, size);
        const response = await fetch(`${base}/echo`, { method: "PUT", headers: group, body });
        const seen = await response.json();
        deepEqual([seen.method, seen.bodyBytes, seen.bodySha256], ["PUT", size, hashOf(body)]);
        equal(headerOf(seen.headers, "content-length"), String(size));
      }
      const stream = new Blob([patternBytes(0, 3_000_000)]).stream();
      const response = await fetch(`${base}/echo`, {
        method: "POST",
        headers: group,
        body: stream,
      });
      const seen = await response.json();
      equal(seen.bodySha256, hashOf(patternBytes(0, 3_000_000)));
      equal(headerOf(seen.headers, "transfer-encoding"), "chunked");
    },
  );

  await t.step("an answer of 64 MB arrives whole", async () => {
    const response = await fetch(`${base}/bytes?n=64000000`, { headers: group });
    const hash = createHash("sha256");
    let bytes = 0;
    for await (const chunk of response.body!) {
      hash.update(chunk);
      bytes += chunk.length;
    }
    equal(bytes, 64_000_000);
    equal(hash.digest("hex"), hashOf(patternBytes(0, 64_000_000)));
  });

  await t.step("C016: events arrive one by one, although compression was offered", async () => {
    const response = await fetch(`${base}/sse?n=5&interval=200`, {
      headers: { ...group, "accept-encoding": "gzip, br", accept: "text/event-stream" },
    });
    equal(response.headers.get("content-encoding"), null);
    equal(response.headers.get("x-accel-buffering"), "no");
    ok(response.headers.get("cache-control")?.includes("no-transform"));
    const atMs: number[] = [];
    for await (const _ of response.body!) atMs.push(performance.now());
    equal(atMs.length, 5);
    const gapsMs = atMs.slice(1).map((ms, index) => ms - atMs[index]);
    ok(gapsMs.every((gapMs) => gapMs >= 100), `gaps ${gapsMs.map(Math.round)}`);
  });

  await t.step("C024: answers without a body leave their connection usable", async () => {
    for (const [path, status] of [["/status/204", 204], ["/status/304", 304]] as const) {
      const head = "host: x\r\nx-otela-identity-group: model=test-model\r\n\r\n";
      const first = `GET /v1/service/llm${path} HTTP/1.1\r\n${head}`;
      const second = `GET /v1/service/llm/echo HTTP/1.1\r\n${head}`;
      const answer = await exchangeRaw(mesh.head.http, first, second);
      equal(answer.status, status);
      equal(answer.next?.status, 200);
    }
  });

  await t.step("credentials and trust headers of a client stay at the door", async () => {
    const response = await fetch(`${base}/echo`, {
      headers: {
        ...group,
        authorization: "Bearer secret",
        cookie: "a=b",
        "x-forwarded-for": "10.0.0.1",
        "x-otela-client-wallet": "somebody",
        "x-kept": "yes",
      },
    });
    const { headers } = await response.json();
    const names = headers.map(([name]: [string, string]) => name);
    for (const name of ["authorization", "cookie", "x-forwarded-for", "x-otela-client-wallet"]) {
      ok(!names.includes(name), name);
    }
    equal(headerOf(headers, "x-kept"), "yes");
  });

  await t.step("C014: a client that leaves before the answer ends the engine's call", async () => {
    const abort = new AbortController();
    const asked = fetch(`${mesh.head.http}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "test-model", messages: [], x_engine: { isHanging: true } }),
      signal: abort.signal,
    }).catch(() => {});
    const request = await engine.log.waitFor((one) => one.path === "/v1/chat/completions", 5_000);
    abort.abort();
    await asked;
    equal(await within(1_000, request.outcome), "aborted");
  });
});

function headerOf(headers: readonly (readonly [string, string])[], name: string) {
  return headers.find(([one]) => one === name)?.[1];
}
