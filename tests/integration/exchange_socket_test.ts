// Does a WebSocket cross the mesh as one, over a lane and to an own engine alike?
import { deepEqual, equal, ok } from "node:assert/strict";
import { KiB, MiB } from "../../lib/base/units.ts";
import type { SocketOpening, SocketSession } from "../../lib/exchange/types.ts";
import { SocketAnswer } from "../../lib/exchange/socket_answer.ts";
import { MessageAssembler } from "../../lib/exchange/message_assembler.ts";
import { startEngine } from "../support/engine.ts";
import { startRawEngine } from "../support/engine_raw.ts";
import { failureOf, headOf, textOf, ways } from "../support/exchange_calls.ts";
import { exchangePair, upstreamOf, workerPeer } from "../support/exchange_pair.ts";
import { within } from "../support/within.ts";

const signal = new AbortController().signal;

function sessionOf(opening: SocketOpening): SocketSession {
  ok(opening.opened, "the socket was refused");
  return opening.session;
}

/** Keeps what a session hears. */
function listen(session: SocketSession) {
  const messages: (string | Uint8Array)[] = [];
  const waiting = new Set<() => void>();
  const closed = Promise.withResolvers<{ code: number; reason: string }>();
  session.bind({
    message(message) {
      messages.push(message);
      for (const check of waiting) check();
    },
    closed: (code, reason) => closed.resolve({ code, reason }),
  });
  const has = (count: number) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const check = () => messages.length >= count && resolve();
    waiting.add(check);
    check();
    return within(10_000, promise);
  };
  return { messages, has, closed: () => within(10_000, closed.promise) };
}

for (const { name, peer } of ways) {
  Deno.test(`C026: a WebSocket ${name} carries messages both ways, and its sub-protocol`, async () => {
    const engine = startEngine();
    {
      await using pair = exchangePair([upstreamOf(engine.url)]);
      const head = headOf("/ws", { headers: ["sec-websocket-protocol", "realtime"] });
      const session = sessionOf(await pair.client.openSocket(peer, head, signal));
      equal(session.protocol, "realtime");
      const heard = listen(session);
      const large = new Uint8Array(300 * KiB).map((_, at) => at % 251);
      session.send("hello");
      session.send("");
      session.send(large);
      session.send(new Uint8Array(0));
      await heard.has(4);
      deepEqual(heard.messages, ["hello", "", large, new Uint8Array(0)]);
      session.send("close");
      deepEqual(await heard.closed(), { code: 4000, reason: "asked to close" });
      equal(pair.budget.head.reservedBytes + pair.budget.worker.reservedBytes, 0);
    }
    await engine.stop();
  });

  Deno.test(`a WebSocket ${name} hears what the engine said before anybody listened`, async () => {
    const engine = startEngine();
    {
      await using pair = exchangePair([upstreamOf(engine.url)]);
      const opening = await pair.client.openSocket(peer, headOf("/ws?greet"), signal);
      const session = sessionOf(opening);
      session.send("close");
      // The engine's greeting and its close arrive before the session is bound, as another one's echo shows.
      const other = sessionOf(await pair.client.openSocket(peer, headOf("/ws"), signal));
      const echoed = listen(other);
      other.send("echo");
      await echoed.has(1);
      other.close(1000, "");
      const heard = listen(session);
      deepEqual(await heard.closed(), { code: 4000, reason: "asked to close" });
      deepEqual(heard.messages, ["hello"]);
    }
    await engine.stop();
  });

  Deno.test(`a WebSocket refused by its engine ${name} is an answer`, async () => {
    const engine = startEngine();
    {
      await using pair = exchangePair([upstreamOf(engine.url)]);
      const opening = await pair.client.openSocket(peer, headOf("/ws-refuse"), signal);
      ok(!opening.opened);
      equal(opening.response.status, 403);
      ok((await textOf(opening.response)).includes("no socket here"));
      const plain = await pair.client.openSocket(peer, headOf("/health"), signal);
      ok(!plain.opened);
      equal(plain.response.status, 200);
      await textOf(plain.response);
      equal(pair.budget.head.reservedBytes + pair.budget.worker.reservedBytes, 0);
    }
    await engine.stop();
  });

  Deno.test(`a WebSocket ${name} that its client closes ends at the engine too, whatever the code`, async () => {
    const engine = startEngine();
    {
      await using pair = exchangePair([upstreamOf(engine.url)]);
      const other = pair.client.request(peer, headOf("/slow?n=3&interval=30"), null);
      for (
        const [code, reason] of [[1000, "bye"], [1005, ""], [1006, ""], [1004, "x"], [
          2_999,
          "x",
        ], [4_999, "é".repeat(61) + "ab"]] as const
      ) {
        const session = sessionOf(await pair.client.openSocket(peer, headOf("/ws"), signal));
        listen(session);
        session.close(code, reason);
      }
      await engine.log.waitFor(({ id }) => id === 7);
      // A code that no close frame may carry costs nobody else the lane.
      ok((await textOf(await other.response)).includes("piece2"));
      ok(pair.connections.length <= 1);
    }
    await engine.stop();
  });

  Deno.test(`a WebSocket ${name} asked for wrongly is refused and costs nobody else the lane`, async () => {
    const engine = startEngine();
    {
      await using pair = exchangePair([upstreamOf(engine.url)]);
      const other = pair.client.request(peer, headOf("/slow?n=3&interval=30"), null);
      for (
        const headers of [
          ["sec-websocket-protocol", "a, a"],
          ["sec-websocket-protocol", "b@d"],
          ["x-bad", "a\r\nb"],
        ]
      ) {
        const opening = pair.client.openSocket(peer, headOf("/ws", { headers }), signal);
        const failure = await within(5_000, failureOf(opening));
        deepEqual([failure.failure, failure.phase], ["engine_failed", "refused"]);
      }
      ok((await textOf(await other.response)).includes("piece2"));
      ok(pair.connections.length <= 1);
    }
    await engine.stop();
  });

  Deno.test(`a WebSocket ${name} to an engine that is not there is refused, one not answered is canceled`, async () => {
    const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const { port } = listener.addr;
    listener.close();
    const raw = await startRawEngine(["stall"]);
    {
      const gone = upstreamOf(`http://127.0.0.1:${port}`, { name: "gone" });
      await using pair = exchangePair([gone, upstreamOf(raw.url)]);
      const refused = pair.client.openSocket(peer, headOf("/", { service: "gone" }), signal);
      const failure = await failureOf(refused);
      deepEqual([failure.failure, failure.phase], ["engine_unreachable", "refused"]);
      const leaving = new AbortController();
      const waiting = pair.client.openSocket(peer, headOf("/"), leaving.signal);
      await raw.headSeen(0);
      leaving.abort();
      equal((await failureOf(waiting)).failure, "canceled");
      await within(1_000, raw.clientGone(0));
    }
    await raw.stop();
  });

  Deno.test(`a message above 16 MiB ${name} closes with 1009`, async () => {
    const engine = startEngine();
    {
      await using pair = exchangePair([upstreamOf(engine.url)]);
      const session = sessionOf(await pair.client.openSocket(peer, headOf("/ws"), signal));
      const heard = listen(session);
      session.send(new Uint8Array(16 * MiB));
      await heard.has(1);
      equal((heard.messages[0] as Uint8Array).length, 16 * MiB);
      session.send(new Uint8Array(16 * MiB + 1));
      equal((await heard.closed()).code, 1009);
    }
    await engine.stop();
  });
}

Deno.test("a WebSocket whose lane is cut closes with 1011, and the engine's with it", async () => {
  const engine = startEngine();
  {
    await using pair = exchangePair([upstreamOf(engine.url)]);
    const session = sessionOf(await pair.client.openSocket(workerPeer, headOf("/ws"), signal));
    const heard = listen(session);
    pair.connections[0].cut(new Error("the cable was pulled"));
    equal((await heard.closed()).code, 1011);
    equal(pair.budget.head.reservedBytes + pair.budget.worker.reservedBytes, 0);
  }
  await engine.stop();
});

Deno.test("an engine that does not read its WebSocket holds its client back", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const accepted = acceptSocket(listener);
  {
    await using pair = exchangePair([upstreamOf(`http://127.0.0.1:${listener.addr.port}`)]);
    const opening = pair.client.openSocket(workerPeer, headOf("/ws"), signal);
    const connection = await accepted;
    const session = sessionOf(await opening);
    listen(session);
    for (let count = 0; count < 64; count++) session.send(new Uint8Array(MiB));
    const stopped = Promise.withResolvers<void>();
    let [queuedBytes, sameCount] = [0, 0];
    const timer = setInterval(() => {
      const nowBytes = session.send("");
      sameCount = nowBytes === queuedBytes ? sameCount + 1 : 0;
      queuedBytes = nowBytes;
      if (sameCount === 10) stopped.resolve();
    }, 20);
    await within(10_000, stopped.promise);
    clearInterval(timer);
    // Sockets hold a few, a message is put together in 16; the rest waits where it can be bounded.
    ok(
      queuedBytes > 40 * MiB,
      `the worker took all but ${queuedBytes} bytes that its engine did not`,
    );
    session.close(1013, "slower than its client");
    equal(pair.budget.head.reservedBytes, 0);
    const gone = (async () => {
      const sink = new Uint8Array(65_536);
      while (await connection.read(sink) !== null);
    })();
    await within(5_000, gone.catch(() => {}));
    equal(pair.server.counts().exchanges + pair.budget.worker.reservedBytes, 0);
    connection.close();
  }
  listener.close();
});

/** Accepts one handshake and reads nothing more. */
async function acceptSocket(listener: Deno.TcpListener): Promise<Deno.Conn> {
  const connection = await listener.accept();
  const buffer = new Uint8Array(4_096);
  const length = await connection.read(buffer) ?? 0;
  const key = /sec-websocket-key: (.*)\r\n/i.exec(
    new TextDecoder().decode(buffer.subarray(0, length)),
  )?.[1];
  const guid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  const hash = await crypto.subtle.digest("SHA-1", new TextEncoder().encode(key + guid));
  const accept = btoa(String.fromCharCode(...new Uint8Array(hash)));
  await connection.write(new TextEncoder().encode(
    "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n" +
      `sec-websocket-accept: ${accept}\r\n\r\n`,
  ));
  return connection;
}

Deno.test("MessageAssembler puts parts together and bounds the whole", () => {
  const assembler = new MessageAssembler();
  equal(assembler.push(new Uint8Array([1]), false), undefined);
  equal(assembler.push(new Uint8Array(0), false), undefined);
  deepEqual(assembler.push(new Uint8Array([2, 3]), true), new Uint8Array([1, 2, 3]));
  deepEqual(assembler.push(new Uint8Array([4]), true), new Uint8Array([4]));
  const megabyte = new Uint8Array(MiB);
  for (let count = 0; count < 16; count++) equal(assembler.push(megabyte, false), undefined);
  equal(assembler.push(new Uint8Array(1), true), "too_large");
});

Deno.test("SocketAnswer fails, when the worker closes a WebSocket that never opened", async () => {
  const answer = new SocketAnswer();
  const told: string[] = [];
  answer.attach({
    send: () => 0,
    close: () => told.push("close"),
    consumed: () => told.push("consumed"),
    cancel: () => told.push("cancel"),
  });
  const opening = answer.opening(signal);
  answer.socketClosed(1000, "");
  const failure = await within(1_000, failureOf(opening));
  deepEqual([failure.failure, failure.phase], ["protocol", "sent"]);
});

Deno.test("SocketAnswer gives no credit for what nobody listens to, and bounds empty messages", async () => {
  const answer = new SocketAnswer();
  const told: string[] = [];
  answer.attach({
    send: () => 0,
    close: () => {},
    consumed: (bytes) => told.push(`consumed ${bytes}`),
    cancel: () => told.push("cancel"),
  });
  answer.head(101, [], new Uint8Array(0), false);
  answer.messagePart(true, new Uint8Array([104, 105]), true);
  equal(told.length, 0);
  for (let count = 0; count < 2_000; count++) answer.messagePart(true, new Uint8Array(0), true);
  deepEqual(told, ["cancel"]);
  ok(answer["waiting"].length < 2_000);
  const heard = listen(sessionOf(await answer.opening(signal)));
  equal((await heard.closed()).code, 1013);
  equal(heard.messages[0], "hi");
});
