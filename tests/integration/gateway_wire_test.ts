import { deepEqual, equal, match, ok } from "node:assert/strict";
import type { Forwarder, ForwardTarget } from "../../lib/gateway/target.ts";
import { textAnswer } from "../../lib/gateway/json_answer.ts";
import { toResponse } from "../../lib/gateway/forward_answer.ts";
import { HttpServer } from "../../lib/server/http_server.ts";
import { fixture, peer } from "../unit/gateway/fixture.ts";
import { within } from "../support/within.ts";

const deadlineMs = 5_000;
const input = (name: string): string =>
  Deno.readTextFileSync(new URL(`../cases/inputs/${name}`, import.meta.url));

/** The parts of a `.http` input: title and bytes. */
function parts(name: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const part of input(name).split(/^####\s*/m).slice(1)) {
    const end = part.indexOf("\n");
    found.set(part.slice(0, end).trim(), part.slice(end + 1));
  }
  return found;
}

type Listening = {
  readonly url: string;
  readonly targets: ForwardTarget[];
  /** Sends bytes on a new connection and reads until the server closes it. */
  send(text: string): Promise<string>;
  /** Opens a connection that the test keeps. */
  connect(): Promise<Deno.TcpConn>;
  [Symbol.asyncDispose](): Promise<void>;
};

/** The client door on a real port, with a forwarder of the test's own. */
function listen(forward?: Forwarder["forward"]): Listening {
  const targets: ForwardTarget[] = [];
  const { door } = fixture({
    forwarder: {
      forward(request, target, context) {
        targets.push(target);
        return forward?.(request, target, context) ?? Promise.resolve(new Response(target.path));
      },
    },
  });
  const server = HttpServer.listen("127.0.0.1", 0, door);
  const { port } = server.addr;
  const connect = () => Deno.connect({ hostname: "127.0.0.1", port });
  return {
    url: `http://127.0.0.1:${port}`,
    targets,
    connect,
    async send(text) {
      using connection = await connect();
      await connection.write(new TextEncoder().encode(text));
      return await within(deadlineMs, new Response(connection.readable).text());
    },
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

const statusOf = (answer: string): number => Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1]);
const close = "Host: head.example\r\nConnection: close\r\n";

/** Reads from a kept connection until `isWhole` says that the answer is there. */
async function readUntil(
  connection: Deno.TcpConn,
  isWhole: (text: string) => boolean,
): Promise<string> {
  const buffer = new Uint8Array(65_536);
  let text = "";
  while (!isWhole(text)) {
    const count = await within(deadlineMs, connection.read(buffer));
    if (count === null) throw new Error(`The connection ended after: ${text}`);
    text += new TextDecoder().decode(buffer.subarray(0, count));
  }
  return text;
}

Deno.test("C019: a request that two hops could cut differently is refused and forwarded nowhere", async (t) => {
  await using server = listen();
  for (const [title, bytes] of parts("C019-cl-te.http")) {
    await t.step(title, async () => {
      // The path becomes one that is forwarded, and the client keeps the connection open.
      const answer = await server.send(bytes.replace("/v1/x", "/v1/service/llm/x"));
      equal(statusOf(answer), 400);
      ok(!answer.slice(1).includes("HTTP/1.1"), "only one request was read");
    });
  }
  for (
    const framing of [
      "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
      "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
      "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
    ]
  ) {
    const answer = await server.send(`POST /v1/service/llm/x HTTP/1.1\r\n${close}${framing}`);
    equal(statusOf(answer), 400, framing);
  }
  deepEqual(server.targets, []);
});

Deno.test("C019: a host that would move the start of the path is refused", async () => {
  await using server = listen();
  for (const host of ["head.example/v1/service/llm/x?", "a?b", "a#b", "user@head", "a b"]) {
    const answer = await server.send(
      `GET /v1/nothing HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
    );
    equal(statusOf(answer), 400, host);
  }
  deepEqual(server.targets, []);
});

Deno.test("C019: the same length twice is refused or read as one, never as two requests", async () => {
  await using server = listen();
  const answer = await server.send(
    `POST /v1/service/llm/x HTTP/1.1\r\n${close}Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}`,
  );
  ok([200, 400].includes(statusOf(answer)));
  equal(answer.split("HTTP/1.1").length, 2);
});

Deno.test("C022: paths and queries reach the engine byte for byte, or are refused", async (t) => {
  await using server = listen();
  const rows = input("C022-path-fidelity.tsv").split("\n").filter((row) =>
    row && !row.startsWith("#")
  );
  ok(rows.length >= 13);
  for (const row of rows) {
    const [path, expected] = row.split("\t");
    for (const prefix of ["/v1/service/llm", "/v1/_service/llm"]) {
      await t.step(prefix + path, async () => {
        server.targets.length = 0;
        const answer = await server.send(`GET ${prefix}${path} HTTP/1.1\r\n${close}\r\n`);
        if (expected.startsWith("same") || statusOf(answer) === 200) {
          ok(!/^400$/.test(expected));
          equal(statusOf(answer), 200);
          equal(server.targets[0].path, path);
        } else {
          equal(statusOf(answer), 400);
          deepEqual(server.targets, []);
        }
      });
    }
  }
});

Deno.test("C024: HEAD keeps the length, and the connection serves the next request at once", async () => {
  await using server = listen();
  const request = parts("C024-head.http").get("request")!;
  using connection = await server.connect();
  const encoder = new TextEncoder();
  for (let round = 0; round < 3; round++) {
    await connection.write(encoder.encode(request));
    const answer = await readUntil(connection, (text) => text.includes("\r\n\r\n"));
    equal(statusOf(answer), 200);
    match(answer, /\r\ncontent-length: 27\r\n/i);
    ok(answer.endsWith("\r\n\r\n"), "no body follows");
  }
  const head = await server.send(`HEAD /v1/nothing HTTP/1.1\r\n${close}\r\n`);
  equal(statusOf(head), 404);
  ok(head.endsWith("\r\n\r\n"), "an error has no body either");
});

Deno.test("C024: answers without a body have none, whatever their headers say, and keep the connection", async () => {
  const worker = peer("W");
  const answers: [method: string, status: number, headers: string[], length: RegExp | undefined][] =
    [
      ["GET", 304, ["etag", '"v1"', "content-length", "120"], undefined],
      ["GET", 204, [], undefined],
      // Clients do not agree on how a 205 ends, so the door says 204.
      ["GET", 205, ["content-length", "0"], undefined],
      [
        "HEAD",
        200,
        ["content-type", "application/json", "content-length", "391"],
        /content-length: 391/i,
      ],
      ["GET", 200, ["content-length", "2"], /content-length: 2/i],
    ];
  let next = 0;
  await using server = listen((request, { publicPrefix }) => {
    const [, status, headers] = answers[next++];
    const body = new TextEncoder().encode("ok");
    const answer = { status, headers, body, trailers: () => [] };
    return Promise.resolve(
      toResponse(answer, body, { method: request.method, worker, publicPrefix }),
    );
  });
  using connection = await server.connect();
  for (const [method, status, , length] of answers) {
    await connection.write(
      new TextEncoder().encode(`${method} /v1/service/llm/x HTTP/1.1\r\nHost: h\r\n\r\n`),
    );
    const isLast = method === "GET" && status === 200;
    const answer = await readUntil(connection, (text) => text.endsWith(isLast ? "ok" : "\r\n\r\n"));
    equal(statusOf(answer), status === 205 ? 204 : status);
    equal(answer.includes("ok", answer.indexOf("\r\n\r\n")), isLast);
    if (length) match(answer, length);
  }
});

Deno.test("C026: an upgrade that is no WebSocket gets 501 at once, and is forwarded nowhere", async () => {
  await using server = listen();
  for (
    const [connection, upgrade] of [
      ["Upgrade", "otela/1"],
      ["keep-alive, UPGRADE", "IRC/6.9, RTA/x11"],
      ["upgrade", "h2c"],
    ]
  ) {
    const answer = await server.send(
      `GET /v1/service/llm/x HTTP/1.1\r\nHost: h\r\nConnection: ${connection}, close\r\nUpgrade: ${upgrade}\r\n\r\n`,
    );
    equal(statusOf(answer), 501, upgrade);
    match(answer, /"code":"upgrade_unsupported"/);
  }
  deepEqual(server.targets, []);
});

Deno.test("C026: a WebSocket is known by its token in any case and in any list", async () => {
  const upgrades: boolean[] = [];
  await using server = listen((_request, _target, context) => {
    upgrades.push(context.isUpgrade);
    return Promise.resolve(textAnswer("no", "text/plain", 403));
  });
  const request = parts("C026-ws-upgrade.http").get("client")!;
  using connection = await server.connect();
  await connection.write(new TextEncoder().encode(request));
  equal(statusOf(await readUntil(connection, (text) => text.endsWith("no"))), 403);
  deepEqual(upgrades, [true]);
  equal(server.targets[0].path, "/v1/realtime?model=demo-7b");
});

Deno.test("C029: OpenAI's paths with a slash at the end reach the same handler without a redirect", async () => {
  await using server = listen();
  for (const path of ["/v1/models", "/v1/models/"]) {
    equal(statusOf(await server.send(`GET ${path} HTTP/1.1\r\n${close}\r\n`)), 200);
  }
  const request = parts("C029-redirect-slash.http").get("request")!
    .replace("Host:", "Connection: close\r\nHost:");
  for (const path of ["/v1/chat/completions", "/v1/chat/completions/"]) {
    const answer = await server.send(request.replace("/v1/chat/completions", path));
    equal(statusOf(answer), 200);
    equal(server.targets.at(-1)!.path, "/v1/chat/completions");
  }
});

Deno.test("createClientDoor answers odd targets without breaking, when a client sends them raw", async () => {
  await using server = listen();
  for (
    const [request, status] of [
      ["OPTIONS * HTTP/1.1", 204],
      ["CONNECT a:80 HTTP/1.1", 400],
      ["TRACE /v1/service/llm/x HTTP/1.1", 405],
      ["GET /v1/service/llm/ü HTTP/1.1", 400],
      ["GET //v1/health HTTP/1.1", 404],
      ["GET /v1/models/%zz HTTP/1.1", 404],
      ["GET /v1/../v1/health HTTP/1.1", 404],
      ["GET http://other.example/v1/health HTTP/1.1", 200],
    ] as const
  ) {
    equal(statusOf(await server.send(`${request}\r\n${close}\r\n`)), status, request);
  }
  deepEqual(server.targets, []);
});
