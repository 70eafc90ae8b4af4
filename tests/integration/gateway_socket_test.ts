import { deepEqual, equal, match } from "node:assert/strict";
import type { SocketOpening, SocketSession } from "../../lib/exchange/types.ts";
import { bridgeSocket, clientQueueBytesMax } from "../../lib/gateway/web_socket.ts";
import { HttpServer } from "../../lib/server/http_server.ts";
import { fixture } from "../unit/gateway/fixture.ts";
import { within } from "../support/within.ts";

const deadlineMs = 5_000;

type Handlers = Parameters<SocketSession["bind"]>[0];

/** The engine's end of a socket: what the client sent, and ways to answer. */
class EngineEnd implements SocketSession {
  readonly received: (string | Uint8Array)[] = [];
  readonly ended = Promise.withResolvers<number>();
  readonly bound = Promise.withResolvers<Handlers>();
  onMessage: (message: string | Uint8Array<ArrayBuffer>, to: Handlers) => void = () => {};
  queuedBytes = 0;
  #handlers: Handlers | undefined;

  constructor(readonly protocol = "") {}

  send(message: string | Uint8Array<ArrayBuffer>): number {
    this.received.push(message);
    if (this.#handlers) this.onMessage(message, this.#handlers);
    return this.queuedBytes;
  }
  close(code: number): void {
    this.ended.resolve(code);
  }
  bind(handlers: Handlers): void {
    this.#handlers = handlers;
    this.bound.resolve(handlers);
  }
}

function listen(opening: SocketOpening) {
  const closes: number[] = [];
  const { door } = fixture({
    forwarder: {
      forward: (request) =>
        bridgeSocket(request, {
          open: () => Promise.resolve(opening),
          refused: ({ status, body }) => new Response(body as Uint8Array<ArrayBuffer>, { status }),
          closed: (code) => void closes.push(code),
        }),
    },
  });
  const server = HttpServer.listen("127.0.0.1", 0, door);
  return {
    closes,
    url: `127.0.0.1:${server.addr.port}/v1/realtime?model=m`,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

function closeOf(socket: WebSocket): Promise<CloseEvent> {
  return within(deadlineMs, new Promise((resolve) => socket.onclose = resolve));
}

Deno.test("bridgeSocket carries text and bytes both ways, when the engine agrees", async () => {
  const engine = new EngineEnd("realtime");
  engine.onMessage = (message, to) => to.message(message);
  await using server = listen({ opened: true, session: engine });
  const socket = new WebSocket(`ws://${server.url}`, ["other", "realtime"]);
  socket.binaryType = "arraybuffer";
  const received: unknown[] = [];
  const both = Promise.withResolvers<void>();
  socket.onopen = () => {
    socket.send("grüezi");
    socket.send(new Uint8Array([0, 255]));
  };
  socket.onmessage = ({ data }) => {
    received.push(typeof data === "string" ? data : [...new Uint8Array(data)]);
    if (received.length === 2) both.resolve();
  };
  await within(deadlineMs, both.promise);
  deepEqual(received, ["grüezi", [0, 255]]);
  equal(socket.protocol, "realtime");
  const closed = closeOf(socket);
  socket.close(4_001, "done");
  equal((await closed).code, 4_001);
  equal(await within(deadlineMs, engine.ended.promise), 4_001);
  deepEqual(server.closes, [4_001]);
});

Deno.test("bridgeSocket delivers what the engine says at once, also when it closes right after", async () => {
  const engine = new EngineEnd();
  await using server = listen({ opened: true, session: engine });
  engine.bound.promise.then((to) => {
    to.message("hello");
    to.closed(1_001, "engine leaves");
  });
  const socket = new WebSocket(`ws://${server.url}`);
  const received: unknown[] = [];
  socket.onmessage = ({ data }) => void received.push(data);
  const { code, reason } = await closeOf(socket);
  deepEqual([received, code, reason], [["hello"], 1_001, "engine leaves"]);
});

Deno.test("bridgeSocket says a lost engine plainly, when its close code cannot travel", async () => {
  const engine = new EngineEnd();
  await using server = listen({ opened: true, session: engine });
  const socket = new WebSocket(`ws://${server.url}`);
  socket.onopen = () => void engine.bound.promise.then((to) => to.closed(1_006, "lane closed"));
  equal((await closeOf(socket)).code, 1_011);
});

Deno.test("bridgeSocket closes with 1013, when more waits for the engine than may", async () => {
  const engine = new EngineEnd();
  engine.queuedBytes = clientQueueBytesMax + 1;
  await using server = listen({ opened: true, session: engine });
  const socket = new WebSocket(`ws://${server.url}`);
  socket.onopen = () => socket.send("one too many");
  equal((await closeOf(socket)).code, 1_013);
  equal(await within(deadlineMs, engine.ended.promise), 1_013);
});

/** Sends a handshake and reads the answer as plain HTTP. */
async function handshake(url: string): Promise<string> {
  const [authority, ...path] = url.split("/");
  const [hostname, port] = authority.split(":");
  using connection = await Deno.connect({ hostname, port: Number(port) });
  await connection.write(new TextEncoder().encode(
    `GET /${path.join("/")} HTTP/1.1\r\nHost: h\r\nConnection: keep-alive, Upgrade\r\n` +
      "Upgrade: WebSocket\r\nSec-WebSocket-Version: 13\r\n" +
      "Sec-WebSocket-Key: AAECAwQFBgcICQoLDA0ODw==\r\n\r\n",
  ));
  const buffer = new Uint8Array(65_536);
  const count = await within(deadlineMs, connection.read(buffer));
  return new TextDecoder().decode(buffer.subarray(0, count ?? 0));
}

function refusedWith(status: number): SocketOpening {
  const body = new TextEncoder().encode("engine says no");
  return { opened: false, response: { status, headers: [], body, trailers: () => [] } };
}

Deno.test("C026: the engine's refusal reaches the client as an ordinary answer", async () => {
  await using server = listen(refusedWith(403));
  const answer = await handshake(server.url);
  match(answer, /^HTTP\/1\.1 403 /);
  match(answer, /engine says no/);
  match(answer, /x-request-id: test-/);
});

Deno.test("C026: an engine that answers 200 to an upgrade becomes 501, never a plain 200", async () => {
  await using server = listen(refusedWith(200));
  match(await handshake(server.url), /^HTTP\/1\.1 501 /);
});

Deno.test("C026: the answer to an accepted upgrade is 101 with the key's proof", async () => {
  const engine = new EngineEnd();
  await using server = listen({ opened: true, session: engine });
  const answer = await handshake(server.url);
  match(answer, /^HTTP\/1\.1 101 /);
  // RFC 6455 §4.2.2 for the key of the handshake above.
  match(answer, /sec-websocket-accept: \S{28}\r\n/i);
  await within(deadlineMs, engine.ended.promise);
});
