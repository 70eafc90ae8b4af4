// Does a handler get a request's body as it arrives, and hear when it breaks off?
import { deepEqual, equal, rejects } from "node:assert/strict";
import { KiB, MiB } from "../../../lib/base/units.ts";
import type { RequestHead } from "../../../lib/http/request_reader.ts";
import { HttpRequest } from "../../../lib/server/http_request.ts";
import { within } from "../../support/within.ts";

const deadlineMs = 5_000;
const bytes = (text: string) => new TextEncoder().encode(text);
const textOf = (chunk: Uint8Array | undefined) => new TextDecoder().decode(chunk);

/** A request, and what it asked of its connection. */
function rig(head: Partial<RequestHead> = {}) {
  const asked: string[] = [];
  const hasAsked = Promise.withResolvers<void>();
  const request = new HttpRequest({
    method: "POST",
    target: "/x",
    headers: [],
    host: "head.example",
    isOld: false,
    isKept: true,
    bodyBytes: -1,
    isAsking: false,
    ...head,
  }, {
    askForBody: () => {
      asked.push("ask");
      hasAsked.resolve();
    },
    bodyTaken: () => void asked.push("taken"),
  });
  return { request, asked, hasAsked: hasAsked.promise };
}

Deno.test("HttpRequest shows what was asked for as it was sent", () => {
  const headers = ["host", "head.example", "x-a", "1"];
  const { request } = rig({ method: "PUT", target: "/a/../b?c=%20#", headers });
  equal(request.method, "PUT");
  equal(request.url, "http://head.example/a/../b?c=%20#");
  const seen: string[] = [];
  request.headers.forEach((value, name) => void seen.push(name, value));
  deepEqual(seen, headers);
  equal(rig({ target: "*" }).request.url, "http://head.example/*");
  equal(rig({ target: "http://other.example/x" }).request.url, "http://other.example/x");
});

Deno.test("HttpRequest gives the whole body, however it comes", async () => {
  const early = rig().request;
  early.push(bytes("ab"));
  early.push(bytes("c"));
  early.end();
  equal(textOf(await early.bytes()), "abc");

  const late = rig().request;
  late.push(bytes("ab"));
  const reading = late.bytes();
  late.push(bytes("c"));
  late.push(bytes("d"));
  late.end();
  equal(textOf(await within(deadlineMs, reading)), "abcd");

  const none = rig({ bodyBytes: 0 }).request;
  none.end();
  equal((await none.bytes()).length, 0);
});

Deno.test("HttpRequest keeps bytes of its own, as the connection reads on into the same buffer", async () => {
  const { request } = rig();
  const buffer = bytes("abc");
  request.push(buffer);
  buffer.fill(0);
  request.end();
  equal(textOf(await request.bytes()), "abc");
});

Deno.test("HttpRequest streams the body piece by piece to its end, and has none when it has none", async () => {
  equal(rig({ bodyBytes: 0 }).request.body, null);
  const { request } = rig();
  equal(request.body, request.body, "it is one");
  const reader = request.body!.getReader();
  request.push(bytes("a"));
  equal(textOf((await reader.read()).value), "a");
  const second = reader.read();
  request.push(bytes("b"));
  equal(textOf((await within(deadlineMs, second)).value), "b");
  const end = reader.read();
  request.end();
  equal((await within(deadlineMs, end)).done, true);
});

Deno.test("HttpRequest fails whoever reads a body that breaks off, now or later", async () => {
  const reading: ((request: HttpRequest) => Promise<unknown>)[] = [
    (request) => request.bytes(),
    (request) => new Response(request.body).text(),
  ];
  for (const read of reading) {
    for (const isEarly of [true, false]) {
      const { request } = rig();
      request.push(bytes("a"));
      if (isEarly) request.fail(new Error("cut"));
      const result = read(request);
      const failing = rejects(within(deadlineMs, result), { message: "cut" });
      if (!isEarly) request.fail(new Error("cut"));
      request.fail(new Error("later"));
      await failing;
    }
  }
});

Deno.test("HttpRequest gives a whole body also when the connection breaks after it", async () => {
  const { request } = rig();
  request.push(bytes("a"));
  request.end();
  request.gone();
  equal(textOf(await request.bytes()), "a");
});

Deno.test("HttpRequest aborts its signal when the client leaves, also when it is asked for late", async () => {
  const early = rig().request;
  const { signal } = early;
  equal(signal, early.signal, "it is one");
  equal(signal.aborted, false);
  let aborts = 0;
  signal.addEventListener("abort", () => aborts++);
  early.gone();
  deepEqual([signal.aborted, aborts], [true, 1]);

  const late = rig().request;
  late.gone();
  equal(late.signal.aborted, true);
  await rejects(within(deadlineMs, late.bytes()), /the client left/);
});

Deno.test("HttpRequest does not abort its signal when only its body is no body", () => {
  const { request } = rig();
  const { signal } = request;
  request.fail(new Error("no number"));
  equal(signal.aborted, false);
});

Deno.test("HttpRequest is full beyond 256 KiB that nobody reads, and has room again as they are read", async () => {
  const { request, asked } = rig();
  const piece = new Uint8Array(64 * KiB);
  for (let i = 0; i < 4; i++) request.push(piece);
  equal(request.isFull, false);
  request.push(piece);
  equal(request.isFull, true);
  deepEqual(asked, []);
  const reader = request.body!.getReader();
  await reader.read();
  deepEqual(asked, ["taken"]);
  equal(request.isFull, false);
});

Deno.test("HttpRequest is never full for one who wants the whole body, or none of it", async () => {
  const wanted = rig();
  const reading = wanted.request.bytes();
  wanted.request.push(new Uint8Array(300 * KiB));
  equal(wanted.request.isFull, false);
  wanted.request.end();
  equal((await within(deadlineMs, reading)).length, 300 * KiB);

  const unwanted = rig();
  unwanted.request.push(new Uint8Array(300 * KiB));
  equal(unwanted.request.isFull, true);
  unwanted.request.discard();
  equal(unwanted.request.isFull, false);
  deepEqual(unwanted.asked, ["taken"]);
});

Deno.test("HttpRequest says when more comes of an unwanted body than is worth reading", async () => {
  const { request } = rig();
  request.push(new Uint8Array(MiB));
  await request.body!.cancel();
  request.push(new Uint8Array(MiB));
  equal(request.isTooLong, false);
  request.push(new Uint8Array(1));
  equal(request.isTooLong, true);
  equal(request.isFull, false);
});

Deno.test("HttpRequest tells one who still reads a body that the rest of it is thrown away", async () => {
  const { request } = rig();
  const reader = request.body!.getReader();
  const reading = reader.read();
  const failing = rejects(within(deadlineMs, reading));
  request.discard();
  request.push(bytes("thrown away"));
  request.end();
  await failing;
});

Deno.test("HttpRequest asks once for a body that the client holds back, when it is read", async () => {
  const { request, asked, hasAsked } = rig({ isAsking: true });
  deepEqual([asked, request.isUnasked], [[], true]);
  const reader = request.body!.getReader();
  const reading = reader.read();
  await within(deadlineMs, hasAsked);
  deepEqual([asked, request.isUnasked], [["ask"], false]);
  request.push(bytes("a"));
  await within(deadlineMs, reading);
  const second = reader.read();
  request.push(bytes("b"));
  await within(deadlineMs, second);
  deepEqual(asked, ["ask", "taken", "taken"]);
});

Deno.test("HttpRequest asks for no body that has come by itself, that nobody reads or that cannot come", async () => {
  const come = rig({ isAsking: true });
  come.request.push(bytes("a"));
  equal(come.request.isUnasked, false);
  come.request.end();
  equal(textOf(await come.request.bytes()), "a");
  deepEqual(come.asked, []);

  const unread = rig({ isAsking: true });
  await unread.request.body!.cancel();
  deepEqual([unread.asked, unread.request.isUnasked], [["taken"], true]);

  const broken = rig({ isAsking: true });
  broken.request.fail(new Error("cut"));
  await rejects(broken.request.bytes(), { message: "cut" });
  deepEqual(broken.asked, []);
});
