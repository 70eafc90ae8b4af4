// Do requests and answers cross a client's connection whole and in order?
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { KiB, MiB } from "../../lib/base/units.ts";
import { PushedBody } from "../../lib/server/pushed_body.ts";
import type { ServerAnswer } from "../../lib/server/types.ts";
import {
  answerWith,
  bytesOf,
  listenHttp,
  pathOf,
  requestText,
  textAnswer,
} from "../support/http_rig.ts";

/** Bytes that differ from their neighbours, and from those of any other power of two before. */
function pattern(length: number): Uint8Array<ArrayBuffer> {
  return Uint8Array.from({ length }, (_, at) => (at * 7 + (at >> 8) + (at >> 16)) & 0xff);
}

function isSame(found: Uint8Array, expected: Uint8Array): boolean {
  return found.length === expected.length && found.every((byte, at) => byte === expected[at]);
}

function streamOf(...texts: string[]): ReadableStream<Uint8Array<ArrayBuffer>> {
  return ReadableStream.from(texts.map(bytesOf));
}

Deno.test("HttpServer answers the requests of a kept connection one after the other", async () => {
  await using rig = listenHttp(async (request) =>
    textAnswer(
      `${request.method} ${pathOf(request)} ${new TextDecoder().decode(await request.bytes())}`,
    )
  );
  using client = await rig.connect();
  await client.send(requestText("GET /1"));
  equal((await client.answer()).body, "GET /1 ");
  await client.send(requestText("POST /2", ["content-length: 3"], "abc"));
  equal((await client.answer()).body, "POST /2 abc");
  await client.send(
    requestText(
      "POST /3",
      ["transfer-encoding: chunked"],
      "1\r\na\r\n2;x\r\nbc\r\n0\r\nx: 1\r\n\r\n",
    ),
  );
  equal((await client.answer()).body, "POST /3 abc");
  await client.send("\r\n" + requestText("GET /4"));
  const { status, headers, body } = await client.answer();
  deepEqual([status, body, headers.get("connection")], [200, "GET /4 ", undefined]);
});

Deno.test("HttpServer shows a handler the request and who sent it, and the client the headers of the answer", async () => {
  const seen: unknown[] = [];
  await using rig = listenHttp((request, { remoteAddr }) => {
    const headers: string[] = [];
    request.headers.forEach((value, name) => void headers.push(name, value));
    seen.push(request.method, request.url, headers, request.body, remoteAddr);
    return textAnswer("x", 418, { "x-a": "caf\xe9" });
  });
  using client = await rig.connect();
  await client.send(requestText("GET /a?b", ["X-A: 1", "x-a: \xff"]));
  const { status, headers } = await client.answer();
  deepEqual([status, headers.get("x-a"), headers.get("content-length")], [418, "caf\xe9", "1"]);
  const { hostname, port } = client.connection.localAddr;
  deepEqual(seen, [
    "GET",
    "http://head.example/a?b",
    ["host", "head.example", "x-a", "1, \xff"],
    null,
    { transport: "tcp", hostname, port },
  ]);
});

Deno.test("HttpServer dates its answers as HTTP wants it", async () => {
  await using rig = listenHttp(() => textAnswer("x", 200, { date: "yesterday" }));
  const before = Math.floor(Date.now() / 1_000) * 1_000;
  using client = await rig.connect();
  await client.send(requestText("GET /"));
  const date = (await client.answer()).headers.get("date")!;
  match(date, /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/);
  ok(Date.parse(date) >= before && Date.parse(date) <= Date.now());
});

Deno.test("HttpServer answers in the order of the requests, when later ones are sent before", async () => {
  const gates = new Map(["/1", "/2", "/3"].map((path) => [path, Promise.withResolvers<void>()]));
  const begun: string[] = [];
  await using rig = listenHttp(async (request) => {
    const path = pathOf(request);
    begun.push(path);
    await gates.get(path)!.promise;
    return textAnswer(path);
  });
  using client = await rig.connect();
  await client.send(requestText("GET /1") + requestText("GET /2") + requestText("GET /3"));
  for (const path of ["/3", "/2", "/1"]) gates.get(path)!.resolve();
  for (const path of ["/1", "/2", "/3"]) equal((await client.answer()).body, path);
  deepEqual(begun, ["/1", "/2", "/3"]);
});

Deno.test("HttpServer answers hundreds of requests of one write in order, at once or later, in any kind of body", async () => {
  const kinds: ((text: string) => ServerAnswer | Promise<ServerAnswer>)[] = [
    (text) => textAnswer(text),
    (text) => Promise.resolve(textAnswer(text)),
    (text) => answerWith(streamOf(text)),
    (text) => {
      const body = new PushedBody({ pull: () => {}, cancel: () => {} });
      body.push(bytesOf(text));
      body.close();
      return answerWith(body);
    },
  ];
  for (const [kind, make] of [...kinds, undefined].entries()) {
    await using rig = listenHttp((request) => {
      const path = pathOf(request);
      return (make ?? kinds[Number(path.slice(1)) % kinds.length])(path);
    });
    using client = await rig.connect();
    const paths = Array.from({ length: 600 }, (_, at) => `/${at}`);
    // With bodies in between, longer than what is read ahead, and cut anywhere.
    const requests = paths.map((path, at) =>
      requestText(`POST ${path}`, [`content-length: ${at % 300}`], "x".repeat(at % 300))
    );
    const sending = client.send(requests.join(""));
    for (const path of paths) equal((await client.answer()).body, path, `kind ${kind}`);
    await sending;
  }
});

Deno.test("HttpServer streams a large body in and out byte for byte, while both still move", async () => {
  await using rig = listenHttp((request) => answerWith(request.body));
  const sent = pattern(5 * MiB + 3);
  const piece = pattern(64 * KiB);
  const chunk = new Uint8Array([...bytesOf("10000\r\n"), ...piece, 13, 10]);
  using client = await rig.connect();
  const sending = (async () => {
    await client.send(requestText("POST /", [`content-length: ${sent.length}`]));
    await client.send(sent);
    await client.send(requestText("POST /", ["transfer-encoding: chunked"]));
    for (let i = 0; i < 40; i++) await client.send(chunk);
    await client.send("0\r\n\r\n");
  })();
  const ofLength = await client.answer("POST");
  const ofPieces = await client.answer("POST");
  await sending;
  const bytes = (text: string) => Uint8Array.from(text, (char) => char.charCodeAt(0));
  ok(isSame(bytes(ofLength.body), sent));
  const forty = bytes(ofPieces.body);
  equal(forty.length, 40 * piece.length);
  for (let i = 0; i < 40; i++) {
    ok(isSame(forty.subarray(i * piece.length, (i + 1) * piece.length), piece));
  }
});

Deno.test("HttpServer speaks with fetch: bodies both ways, on connections that are used again", async () => {
  const ports = new Set<number>();
  await using rig = listenHttp(async (request, { remoteAddr }) => {
    ports.add((remoteAddr as Deno.NetAddr).port);
    return answerWith(await request.bytes(), 200, { "content-type": "application/octet-stream" });
  });
  using http = Deno.createHttpClient({});
  const body = pattern(2 * MiB);
  for (let i = 0; i < 5; i++) {
    const streamed = i % 2 === 0 ? body : new Blob([body]).stream();
    const response = await fetch(rig.url, { method: "POST", body: streamed, client: http });
    equal(response.status, 200);
    ok(isSame(await response.bytes(), body));
  }
  equal(ports.size, 1);
});

Deno.test("HttpServer sends each piece of a stream as it comes", async () => {
  const body = new PushedBody({ pull: () => {}, cancel: () => {} });
  await using rig = listenHttp(() => answerWith(body));
  using client = await rig.connect();
  await client.send(requestText("GET /"));
  match(await client.until("\r\n\r\n"), /\r\ntransfer-encoding: chunked\r\n/);
  for (const text of ["a", "bc"]) {
    body.push(bytesOf(text));
    equal(await client.take(text.length + 5), `${text.length}\r\n${text}\r\n`);
  }
  body.push(new Uint8Array(0)); // It would look like the end.
  body.push(bytesOf("d"));
  body.close();
  equal(await client.take(11), "1\r\nd\r\n0\r\n\r\n");
});

Deno.test("HttpServer sends no body with HEAD, 204 and 304, tells its length, and keeps the connection", async () => {
  const canceled: string[] = [];
  const bodies: Record<string, () => ServerAnswer> = {
    "/bytes": () => textAnswer("abc"),
    "/stream": () => answerWith(new ReadableStream({ cancel: () => void canceled.push("stream") })),
    "/pushed": () =>
      answerWith(
        new PushedBody({ pull: () => {}, cancel: () => void canceled.push("pushed") }),
        200,
        { "content-length": "391" },
      ),
    "/204": () => textAnswer("abc", 204, { "content-length": "3" }),
    "/304": () => answerWith(null, 304, { "content-length": "120", etag: '"v1"' }),
    "/none": () => answerWith(null),
    "/last": () => textAnswer("last"),
  };
  await using rig = listenHttp((request) => bodies[pathOf(request)]());
  using client = await rig.connect();
  const lengthOf = async (start: string) => {
    await client.send(requestText(start));
    const { headers, body } = await client.answer(start.split(" ")[0]);
    equal(headers.get("transfer-encoding"), undefined);
    return [headers.get("content-length"), body];
  };
  deepEqual(await lengthOf("HEAD /bytes"), ["3", ""]);
  deepEqual(await lengthOf("HEAD /stream"), [undefined, ""]);
  deepEqual(await lengthOf("HEAD /pushed"), ["391", ""]);
  deepEqual(await lengthOf("GET /204"), [undefined, ""]);
  deepEqual(await lengthOf("GET /304"), ["120", ""]);
  deepEqual(await lengthOf("GET /none"), ["0", ""]);
  deepEqual(await lengthOf("GET /last"), ["4", "last"]);
  deepEqual(canceled, ["stream", "pushed"], "nobody reads what is not sent");
});

Deno.test("HttpServer ends an HTTP/1.0 connection after its answer, unless the client keeps it", async () => {
  await using rig = listenHttp((request) =>
    pathOf(request) === "/stream"
      ? answerWith(streamOf("in ", "parts"))
      : pathOf(request) === "/told"
      ? answerWith(streamOf("ab", "c"), 200, { "content-length": "3" })
      : textAnswer("whole")
  );
  const send = async (path: string, keep = "") => {
    const client = await rig.connect();
    await client.send(`GET ${path} HTTP/1.0\r\nhost: head.example\r\n${keep}\r\n`);
    return client;
  };
  for (const [path, body] of [["/whole", "whole"], ["/stream", "in parts"], ["/told", "abc"]]) {
    using client = await send(path);
    const answer = await client.rest();
    match(answer, /\r\nconnection: close\r\n/);
    ok(!/transfer-encoding/.test(answer), "HTTP/1.0 knows no pieces");
    equal(answer.split("\r\n\r\n")[1], body);
  }
  using kept = await send("/whole", "connection: keep-alive\r\n");
  const first = await kept.answer();
  deepEqual([first.headers.get("connection"), first.body], ["keep-alive", "whole"]);
  for (const path of ["/told", "/stream"]) {
    await kept.send(`GET ${path} HTTP/1.0\r\nhost: head.example\r\nconnection: keep-alive\r\n\r\n`);
  }
  const second = await kept.answer();
  deepEqual([second.headers.get("connection"), second.body], ["keep-alive", "abc"]);
  const last = await kept.answer();
  deepEqual([last.headers.get("connection"), last.body], ["close", "in parts"]);
});

Deno.test("HttpServer ends a connection after an answer of which client or handler wants it, and answers nothing more", async () => {
  const seen: string[] = [];
  await using rig = listenHttp((request) => {
    seen.push(pathOf(request));
    const headers = pathOf(request) === "/handler" ? { connection: "close" } : undefined;
    return pathOf(request) === "/stream"
      ? answerWith(streamOf("a", "b"))
      : textAnswer("x", 200, headers);
  });
  for (
    const [path, field] of [["/client", "connection: close"], ["/handler", "x: 1"], [
      "/stream",
      "connection: Close",
    ]]
  ) {
    using client = await rig.connect();
    await client.send(requestText(`GET ${path}`, [field]) + requestText("GET /next"));
    const { headers } = await client.answer();
    equal(headers.get("connection"), "close");
    equal(await client.rest(), "");
  }
  deepEqual(seen, ["/client", "/handler", "/stream"]);
});

for (const [what, after] of [["", ""], [", also when an empty line follows it", "\r\n"]]) {
  Deno.test(`HttpServer keeps a connection whose small body nobody read${what}`, async () => {
    await using rig = listenHttp((request) => textAnswer(pathOf(request)));
    using client = await rig.connect();
    const body = "x".repeat(100 * KiB);
    for (const path of ["/1", "/2", "/3"]) {
      await client.send(requestText(`POST ${path}`, [`content-length: ${body.length}`]));
      equal((await client.answer()).body, path, "before the body is sent");
      // Clumsy clients leave an empty line behind a body (RFC 9112 §2.2).
      await client.send(body + after);
    }
    await client.send(requestText("GET /4"));
    equal((await client.answer()).body, "/4");
  });
}
