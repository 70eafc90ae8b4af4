// Does a client's connection speak WebSocket whole, and does everybody hear when it ends?
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { MiB } from "../../lib/base/units.ts";
import { type ClientSocket, SocketAnswer } from "../../lib/server/socket_answer.ts";
import { listenHttp, pathOf, requestText, textAnswer } from "../support/http_rig.ts";
import { latin1Text } from "../support/request_record.ts";
import { within } from "../support/within.ts";

const deadlineMs = 10_000;

type Message = string | Uint8Array<ArrayBuffer>;
type Options = {
  readonly protocol?: string;
  readonly headers?: Record<string, string>;
  /** What becomes of a message; it is sent back unless told. */
  readonly message?: (message: Message, socket: ClientSocket) => void;
};

/** A server that opens every socket that is asked for, and remembers how each ended. */
function listenSockets(
  { protocol = "", headers = {}, message = (it, socket) => socket.send(it) }: Options = {},
) {
  const closed = Promise.withResolvers<[code: number, reason: string]>();
  const lost = Promise.withResolvers<void>();
  const rig = listenHttp((request) => {
    if (pathOf(request) === "/plain") return textAnswer("plain");
    const answer = new SocketAnswer(protocol, (socket) =>
      socket.bind({
        message: (it) => message(it, socket),
        closed: (...end) => closed.resolve(end),
      }), lost.resolve);
    for (const [name, value] of Object.entries(headers)) answer.headers.set(name, value);
    return answer;
  });
  return Object.assign(rig, { closed: closed.promise, lost: lost.promise });
}

/** A client whose messages can be read one by one. */
function openSocket(port: number, protocols: string[] = []) {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/`, protocols);
  socket.binaryType = "arraybuffer";
  const messages: unknown[] = [];
  let arrived = Promise.withResolvers<void>();
  socket.onmessage = ({ data }) => {
    messages.push(typeof data === "string" ? data : new Uint8Array(data));
    arrived.resolve();
  };
  const opened = new Promise<void>((resolve) => socket.onopen = () => resolve());
  const closed = new Promise<CloseEvent>((resolve) => socket.onclose = resolve);
  return {
    socket,
    opened: within(deadlineMs, opened),
    closed: () => within(deadlineMs, closed),
    async next(): Promise<unknown> {
      while (messages.length === 0) {
        await within(deadlineMs, arrived.promise);
        arrived = Promise.withResolvers<void>();
      }
      return messages.shift();
    },
    async [Symbol.asyncDispose]() {
      socket.close();
      await within(deadlineMs, closed);
    },
  };
}

const handshake = requestText("GET /", [
  "connection: keep-alive, Upgrade",
  "upgrade: websocket",
  "sec-websocket-version: 13",
  "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==",
]);

/** A short text as a client sends it: masked, as RFC 6455 §5.3 wants. */
function textFrame(text: string): string {
  const mask = [1, 2, 3, 4];
  const masked = [...new TextEncoder().encode(text)].map((byte, at) => byte ^ mask[at % 4]);
  return latin1Text(Uint8Array.of(0x81, 0x80 | masked.length, ...mask, ...masked));
}

/** The same as a server sends it. */
function answerFrame(text: string): string {
  return latin1Text(Uint8Array.of(0x81, text.length)) + text;
}

Deno.test("SocketAnswer carries large messages both ways, text and bytes, in order", async () => {
  await using rig = listenSockets();
  await using client = openSocket(rig.port);
  await client.opened;
  const text = "grüezi".repeat(MiB / 6);
  const bytes = Uint8Array.from({ length: MiB }, (_, at) => (at * 7 + (at >> 8)) & 0xff);
  for (const message of [text, bytes, "", new Uint8Array(0), "last"]) client.socket.send(message);
  ok(await client.next() === text);
  const back = await client.next() as Uint8Array;
  ok(back.length === MiB && back.every((byte, at) => byte === bytes[at]));
  equal(await client.next(), "");
  deepEqual(await client.next(), new Uint8Array(0));
  equal(await client.next(), "last");
});

Deno.test("SocketAnswer answers the handshake with the key's proof and the headers of the handler", async () => {
  await using rig = listenSockets({ headers: { "x-request-id": "r-1", "x-b": "2" } });
  using client = await rig.connect();
  await client.send(handshake);
  const { status, headers } = await client.answer();
  equal(status, 101);
  // RFC 6455 §1.3 has this key and its proof.
  const proof = [...headers].find(([name]) => name.toLowerCase() === "sec-websocket-accept");
  equal(proof?.[1], "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
  deepEqual([headers.get("x-request-id"), headers.get("x-b")], ["r-1", "2"]);
});

Deno.test("SocketAnswer chooses the sub-protocol that the handler chose, or none", async () => {
  for (const protocol of ["realtime", ""]) {
    await using rig = listenSockets({ protocol });
    await using client = openSocket(rig.port, protocol ? ["other", protocol] : []);
    await client.opened;
    equal(client.socket.protocol, protocol);
  }
});

Deno.test("SocketAnswer loses nothing that comes with the handshake or right after it", async () => {
  await using rig = listenSockets();
  using client = await rig.connect();
  const frames = ["hello", "at", "once"];
  // Behind another request, and the last frame cut in the middle.
  const all = requestText("GET /plain") + handshake + frames.map(textFrame).join("");
  await client.send(all.slice(0, -5));
  equal((await client.answer()).body, "plain");
  equal((await client.answer()).status, 101);
  equal(await client.take(9), answerFrame("hello") + answerFrame("at").slice(0, 2));
  await client.send(all.slice(-5) + textFrame("later"));
  equal(await client.take(15), "at" + answerFrame("once") + answerFrame("later"));
});

Deno.test("SocketAnswer tells the code and the reason with which either side closes", async () => {
  await using byClient = listenSockets();
  const leaving = openSocket(byClient.port);
  await leaving.opened;
  leaving.socket.close(4_001, "done");
  deepEqual(await within(deadlineMs, byClient.closed), [4_001, "done"]);
  equal((await leaving.closed()).code, 4_001);

  await using byServer = listenSockets({
    message: (_, socket) => socket.close(4_002, "enough"),
  });
  const client = openSocket(byServer.port);
  await client.opened;
  client.socket.send("x");
  const { code, reason, wasClean } = await client.closed();
  deepEqual([code, reason, wasClean], [4_002, "enough", true]);
  deepEqual((await within(deadlineMs, byServer.closed))[0], 4_002);
});

Deno.test("SocketAnswer says 1006, when the client vanishes without a word", async () => {
  await using rig = listenSockets();
  using client = await rig.connect();
  await client.send(handshake + textFrame("hi"));
  equal((await client.answer()).status, 101);
  equal(await client.take(4), answerFrame("hi"));
  client.close();
  equal((await within(deadlineMs, rig.closed))[0], 1_006);
});

Deno.test("SocketAnswer closes with 1009 at a message above 16 MiB, and takes one of 16 MiB", async () => {
  const lengths: number[] = [];
  await using rig = listenSockets({
    message(message, socket) {
      lengths.push(message.length);
      socket.send("got it");
    },
  });
  const client = openSocket(rig.port);
  await client.opened;
  client.socket.send(new Uint8Array(16 * MiB));
  equal(await client.next(), "got it");
  client.socket.send(new Uint8Array(16 * MiB + 1));
  equal((await client.closed()).code, 1_009);
  await within(deadlineMs, rig.closed);
  deepEqual(lengths, [16 * MiB]);
});

Deno.test("SocketAnswer is lost, when the client has left or its handshake is none", async () => {
  const arrived = Promise.withResolvers<void>();
  const gone = Promise.withResolvers<void>();
  const lost = Promise.withResolvers<void>();
  await using late = listenHttp(async ({ signal }) => {
    signal.addEventListener("abort", () => gone.resolve());
    arrived.resolve();
    await gone.promise;
    return new SocketAnswer("", () => {}, lost.resolve);
  });
  using leaving = await late.connect();
  await leaving.send(handshake);
  await within(deadlineMs, arrived.promise);
  leaving.close();
  await within(deadlineMs, lost.promise);

  await using rig = listenSockets();
  using client = await rig.connect();
  await client.send(handshake.replace("dGhlIHNhbXBsZSBub25jZQ==", "short"));
  match(await client.until("\r\n\r\n"), /^HTTP\/1\.1 400 /);
  await within(deadlineMs, rig.lost);
});
