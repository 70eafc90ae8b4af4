// Does HTTP cross an exchange unchanged, over a lane and to an own engine alike?
import { AnswerBody } from "../../lib/exchange/answer_body.ts";
import { deepEqual, equal, ok } from "node:assert/strict";
import { gunzipSync } from "node:zlib";
import { startEngine } from "../support/engine.ts";
import { type RawStep, startRawEngine } from "../support/engine_raw.ts";
import { patternBytes } from "../support/engine_wire.ts";
import {
  bodyOf,
  echo,
  headerOf,
  headOf,
  piecesOf,
  sha256,
  streamOf,
  textOf,
  ways,
} from "../support/exchange_calls.ts";
import { exchangePair, upstreamOf } from "../support/exchange_pair.ts";
import { within } from "../support/within.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

for (const { name, peer } of ways) {
  Deno.test(`an exchange ${name} carries plain and streamed answers`, async () => {
    const engine = startEngine();
    {
      await using pair = exchangePair([upstreamOf(engine.url)]);
      const body = bytes('{"model":"test-model","messages":[]}');
      const head = headOf("/v1/chat/completions", {
        method: "POST",
        headers: ["content-type", "application/json"],
        bodyBytes: body.length,
      });
      const plain = await pair.client.request(peer, head, body).response;
      equal(plain.status, 200);
      equal(JSON.parse(await textOf(plain)).object, "chat.completion");
      const streamed = await pair.client.request(peer, headOf("/sse?n=5&interval=1"), null)
        .response;
      ok(streamed.body instanceof AnswerBody);
      equal((await textOf(streamed)).match(/data:/g)?.length, 5);
      // By these a node knows that it rests.
      deepEqual([pair.client.startedCount, pair.calls.startedCount], [2, 2]);
    }
    await engine.stop();
  });

  Deno.test(`an exchange ${name} carries bodies of 1 byte to 64 MB both ways`, async () => {
    const engine = startEngine();
    {
      await using pair = exchangePair([upstreamOf(engine.url)]);
      for (const size of [1, 1_500, 1_000_000, 64_000_000]) {
        const hash = sha256(patternBytes(0, size));
        const head = headOf("/echo", { method: "POST", bodyBytes: size });
        const up = await echo(pair, peer, head, streamOf(size, 50_000));
        deepEqual([up.bodyBytes, up.bodySha256], [size, hash]);
        const down = await pair.client.request(peer, headOf(`/bytes?n=${size}`), null).response;
        equal(sha256(await bodyOf(down)), hash);
      }
      const whole = patternBytes(0, 3_000_000);
      const head = headOf("/echo", { method: "POST", bodyBytes: whole.length });
      equal((await echo(pair, peer, head, whole)).bodySha256, sha256(whole));
      equal(pair.calls.openCount, 0);
      equal(pair.budget.head.reservedBytes + pair.budget.worker.reservedBytes, 0);
    }
    await engine.stop();
  });

  Deno.test(`two hundred exchanges ${name} at once keep their bodies apart`, async () => {
    const engine = startEngine();
    {
      await using pair = exchangePair([upstreamOf(engine.url)]);
      const size = (at: number) => 200 + at * 300;
      const answers = await Promise.all(Array.from({ length: 200 }, async (_, at) => {
        const path = `/bytes?n=${size(at)}&chunk=${1 + at * 100}`;
        return await bodyOf(await pair.client.request(peer, headOf(path), null).response);
      }));
      answers.forEach((answer, at) => deepEqual(answer, patternBytes(0, size(at))));
    }
    await engine.stop();
  });

  Deno.test(`C027: a body of known length ${name} keeps it, one of unknown length is chunked`, async () => {
    const engine = startEngine();
    {
      await using pair = exchangePair([upstreamOf(engine.url)]);
      for (const method of ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"]) {
        const known = headOf("/echo", { method, bodyBytes: 54 });
        const lengthOf = async (head: typeof known) => {
          const seen = await echo(pair, peer, head, streamOf(54, 51));
          equal(seen.bodyBytes, 54);
          const headers = new Map(seen.headers);
          return [headers.get("content-length"), headers.get("transfer-encoding")];
        };
        deepEqual(await lengthOf(known), ["54", undefined], method);
        deepEqual(await lengthOf({ ...known, bodyBytes: -1 }), [undefined, "chunked"], method);
      }
    }
    await engine.stop();
  });

  Deno.test(`C021: DELETE and OPTIONS with a body ${name} leave the connection in step`, async () => {
    const answer: RawStep = { send: "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok" };
    for (const method of ["DELETE", "OPTIONS"]) {
      const raw = await startRawEngine([answer]);
      {
        await using pair = exchangePair([upstreamOf(raw.url)]);
        const body = bytes('{"why":"x"}');
        const pieces = new ReadableStream<Uint8Array<ArrayBuffer>>({
          start(controller) {
            controller.enqueue(body);
            controller.close();
          },
        });
        const first = headOf("/v1/files/f1", { method, bodyBytes: -1 });
        equal(await textOf(await pair.client.request(peer, first, pieces).response), "ok");
        const second = await pair.client.request(peer, headOf("/v1/models"), null).response;
        equal(await textOf(second), "ok");
        const seen = raw.received.join("");
        ok(seen.includes('b\r\n{"why":"x"}\r\n0\r\n\r\n'), seen);
        ok(seen.includes("GET /v1/models HTTP/1.1\r\n"));
      }
      await raw.stop();
    }
  });

  Deno.test(`C024: answers without a body ${name} have none, whatever their headers say`, async () => {
    const cases: [string, string, number, string | undefined][] = [
      ["HEAD", "HTTP/1.1 200 OK\r\ncontent-length: 391\r\n\r\n", 200, "391"],
      ["GET", 'HTTP/1.1 304 Not Modified\r\netag: "v1"\r\ncontent-length: 120\r\n\r\n', 304, "120"],
      ["GET", "HTTP/1.1 204 No Content\r\ntransfer-encoding: chunked\r\n\r\n", 204, undefined],
      ["GET", "HTTP/1.1 205 Reset Content\r\ncontent-length: 0\r\n\r\n", 205, "0"],
    ];
    for (const [method, send, status, length] of cases) {
      const raw = await startRawEngine([{ send }]);
      {
        await using pair = exchangePair([upstreamOf(raw.url)]);
        for (let count = 0; count < 2; count++) {
          const request = pair.client.request(peer, headOf("/", { method }), null);
          const response = await within(5_000, request.response);
          equal(response.status, status);
          equal(headerOf(response.headers, "content-length"), length);
          equal((await within(5_000, bodyOf(response))).length, 0);
        }
        equal(pair.calls.openCount, 0);
      }
      await raw.stop();
    }
  });

  Deno.test(`C024: an interim answer ${name} is passed over`, async () => {
    const raw = await startRawEngine([{
      send: "HTTP/1.1 103 Early Hints\r\nlink: </a.css>\r\n\r\n" +
        "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok",
    }]);
    {
      await using pair = exchangePair([upstreamOf(raw.url)]);
      const response = await pair.client.request(peer, headOf("/"), null).response;
      deepEqual([response.status, await textOf(response)], [200, "ok"]);
    }
    await raw.stop();
  });

  Deno.test(`C029: a redirect ${name} is relayed, its engine's address taken off`, async () => {
    const engine = startEngine();
    {
      await using pair = exchangePair([upstreamOf(engine.url)]);
      for (
        const [to, expected] of [
          [`${engine.url}/v1/chat/completions/`, "/v1/chat/completions/"],
          ["https://elsewhere.example/x", "https://elsewhere.example/x"],
          ["/v1/x/", "/v1/x/"],
        ]
      ) {
        const path = `/redirect?to=${encodeURIComponent(to)}`;
        const head = headOf(path, { method: "POST", bodyBytes: 2 });
        const response = await pair.client.request(peer, head, bytes("{}")).response;
        equal(response.status, 307);
        equal(headerOf(response.headers, "location"), expected);
        await bodyOf(response);
      }
      equal(engine.log.requests.length, 3);
    }
    await engine.stop();
  });

  Deno.test(`C017: a compressed answer ${name} stays as it is`, async () => {
    const engine = startEngine();
    {
      await using pair = exchangePair([upstreamOf(engine.url)]);
      const response = await pair.client.request(peer, headOf("/gzip"), null).response;
      equal(headerOf(response.headers, "content-encoding"), "gzip");
      ok(gunzipSync(await bodyOf(response)).toString().includes("gzip gzip"));
    }
    await engine.stop();
  });

  Deno.test(`C016: events ${name} arrive one by one, as their engine sent them`, async () => {
    const engine = startEngine();
    {
      await using pair = exchangePair([upstreamOf(engine.url)]);
      const head = headOf("/slow?n=5&interval=100", { headers: ["accept-encoding", "gzip, br"] });
      const { body, headers } = await pair.client.request(peer, head, null).response;
      equal(headerOf(headers, "content-encoding"), undefined);
      const seen: { text: string; atMs: number }[] = [];
      for await (const chunk of piecesOf({ body })) {
        seen.push({ text: new TextDecoder().decode(chunk), atMs: performance.now() });
      }
      deepEqual(seen.map(({ text }) => text), [0, 1, 2, 3, 4].map((n) => `piece${n}\n`));
      ok(seen[4].atMs - seen[0].atMs > 300);
    }
    await engine.stop();
  });

  Deno.test(`C022: a path ${name} reaches the engine byte for byte`, async () => {
    const paths = [
      "/echo/data/a%2Fb.json?x=1%26&y=a+b",
      "/echo/v1/models/org%2Fdemo-7b",
      "/echo//double//slash",
      "/echo/sp%20ace/%E4%BD%A0",
      "/echo/a;v=1/b",
      "/echo?q=%zz",
      "/echo/%252e%252e%252fadmin",
    ];
    const raw = await startRawEngine([{ send: "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n" }]);
    {
      await using pair = exchangePair([upstreamOf(raw.url)]);
      for (const path of paths) await pair.client.request(peer, headOf(path), null).response;
      const seen = raw.received.join("").split("\r\n").filter((line) => line.startsWith("GET "));
      deepEqual(seen.sort(), paths.map((path) => `GET ${path} HTTP/1.1`).sort());
    }
    await raw.stop();
  });

  Deno.test(`headers ${name} keep their order and bytes, hop-by-hop ones end at the worker`, async () => {
    const raw = await startRawEngine([{
      send:
        "HTTP/1.1 200 OK\r\nX-A: 1\r\nset-cookie: a\r\nSet-Cookie: b\r\nx-latin: caf\u00e9\r\n" +
        "Connection: keep-alive, x-private\r\nx-private: p\r\nkeep-alive: timeout=5\r\n" +
        "content-length: 0\r\n\r\n",
    }]);
    {
      const upstream = upstreamOf(raw.url, { headers: ["authorization", "Bearer engine"] });
      await using pair = exchangePair([upstream]);
      const head = headOf("/", { headers: ["x-one", "1", "x-two", "2"] });
      const { headers } = await pair.client.request(peer, head, null).response;
      deepEqual(headers.slice(0, 8), [
        "x-a",
        "1",
        "set-cookie",
        "a",
        "set-cookie",
        "b",
        "x-latin",
        "caf\u00c3\u00a9",
      ]);
      equal(headerOf(headers, "x-private"), undefined);
      equal(headerOf(headers, "connection"), undefined);
      ok(raw.received[0].includes("authorization: Bearer engine\r\n"));
      ok(raw.received[0].indexOf("x-one") < raw.received[0].indexOf("x-two"));
    }
    await raw.stop();
  });

  Deno.test(`trailers ${name} arrive with the end of the body`, async () => {
    const raw = await startRawEngine([{
      send: "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ntrailer: x-usage\r\n\r\n" +
        "2\r\nok\r\n0\r\nX-Usage: 7\r\n\r\n",
    }]);
    {
      await using pair = exchangePair([upstreamOf(raw.url)]);
      const response = await pair.client.request(peer, headOf("/"), null).response;
      equal(await textOf(response), "ok");
      deepEqual(response.trailers(), ["x-usage", "7"]);
    }
    await raw.stop();
  });
}
