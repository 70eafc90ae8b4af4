// How do connections end, by their client or by the server, and does everybody hear of it?
import { deepEqual, equal, match, ok, rejects, throws } from "node:assert/strict";
import { MiB } from "../../lib/base/units.ts";
import { HttpServer } from "../../lib/server/http_server.ts";
import { PushedBody } from "../../lib/server/pushed_body.ts";
import type { ServerAnswer } from "../../lib/server/types.ts";
import { eventually } from "../support/eventually.ts";
import {
  answerWith,
  bytesOf,
  listenHttp,
  pathOf,
  requestText,
  textAnswer,
} from "../support/http_rig.ts";
import { within } from "../support/within.ts";

const deadlineMs = 5_000;

Deno.test("HttpServer aborts the request's signal, when its client leaves while the handler works", async () => {
  const arrived = Promise.withResolvers<void>();
  const gone = Promise.withResolvers<void>();
  await using rig = listenHttp(async ({ signal }) => {
    signal.addEventListener("abort", () => gone.resolve());
    arrived.resolve();
    await gone.promise;
    return textAnswer("nobody reads this");
  });
  using client = await rig.connect();
  await client.send(requestText("GET /"));
  await within(deadlineMs, arrived.promise);
  client.close();
  await within(deadlineMs, gone.promise);
});

Deno.test("HttpServer does not abort a request's signal after its answer", async () => {
  const signals: AbortSignal[] = [];
  await using rig = listenHttp(({ signal }) => {
    signals.push(signal);
    return textAnswer("x");
  });
  using client = await rig.connect();
  await client.send(requestText("GET /"));
  await client.answer();
  client.close();
  await rig.server.shutdown();
  deepEqual(signals.map(({ aborted }) => aborted), [false]);
});

Deno.test("HttpServer cancels the body of an answer, when its client leaves in the middle or before it began", async () => {
  for (const kind of ["stream", "pushed"]) {
    for (const isBegun of [true, false]) {
      const arrived = Promise.withResolvers<void>();
      const gone = Promise.withResolvers<void>();
      const canceled = Promise.withResolvers<void>();
      const stream = new ReadableStream<Uint8Array>({
        start: (controller) => controller.enqueue(bytesOf("first")),
        cancel: () => canceled.resolve(),
      });
      const pushed = new PushedBody({ pull: () => {}, cancel: () => canceled.resolve() });
      pushed.push(bytesOf("first"));
      await using rig = listenHttp(async ({ signal }) => {
        signal.addEventListener("abort", () => gone.resolve());
        arrived.resolve();
        if (!isBegun) await gone.promise;
        return answerWith(kind === "stream" ? stream : pushed);
      });
      using client = await rig.connect();
      await client.send(requestText("GET /"));
      if (isBegun) await client.until("first");
      else await within(deadlineMs, arrived.promise);
      client.close();
      await within(deadlineMs, canceled.promise);
    }
  }
});

Deno.test("HttpServer fails a handler that reads a body, when the client leaves or sends no body", async () => {
  const failed: Promise<string>[] = [];
  const failures = [0, 1].map(() => Promise.withResolvers<string>());
  await using rig = listenHttp(async (request) => {
    const { resolve } = failures[failed.length];
    failed.push(failures[failed.length].promise);
    await request.bytes().catch((error) => resolve(error.message));
    return textAnswer("no body", 400);
  });
  using leaving = await rig.connect();
  await leaving.send(requestText("POST /", ["content-length: 10"], "abc"));
  await eventually(() => failed.length === 1, deadlineMs);
  leaving.close();
  match(await within(deadlineMs, failed[0]), /the client left/);

  using wrong = await rig.connect();
  await wrong.send(requestText("POST /", ["transfer-encoding: chunked"], "3\r\nabc\r\n"));
  await eventually(() => failed.length === 2, deadlineMs);
  await wrong.send("no size\r\n" + requestText("GET /next"));
  match(await within(deadlineMs, failed[1]), /the size of a piece is no number/);
  equal((await wrong.answer()).status, 400);
  equal(await wrong.rest(), "");
  equal(failed.length, 2);
});

Deno.test("HttpServer answers and ends, when a body that is none comes in one write with its head", async () => {
  await using rig = listenHttp(async (request) => {
    try {
      return answerWith(await request.bytes());
    } catch {
      return textAnswer("no body", 400);
    }
  });
  using client = await rig.connect();
  await client.send(requestText("POST /", ["transfer-encoding: chunked"], "no size\r\n"));
  equal((await client.answer()).status, 400);
  equal(await client.rest(), "");
});

Deno.test("HttpServer gets its early answer through to a client that still sends a large body, and reads nothing after it", async () => {
  const seen: string[] = [];
  await using rig = listenHttp((request) => {
    seen.push(pathOf(request));
    return textAnswer("too large", 413);
  });
  using client = await rig.connect();
  await client.send(requestText("POST /", [`content-length: ${16 * MiB}`]));
  await client.send(new Uint8Array(16 * MiB));
  await client.send(requestText("GET /next"));
  const { status, body } = await client.answer();
  deepEqual([status, body], [413, "too large"]);
  equal(await client.rest(), "");
  client.close();
  await rig.server.shutdown();
  deepEqual(seen, ["/"]);
});

Deno.test("HttpServer says why bytes are no request, ends the connection and reads nothing after them", async () => {
  const seen: string[] = [];
  await using rig = listenHttp((request) => {
    seen.push(pathOf(request));
    return textAnswer("x");
  });
  const nonsense: [bytes: string, code: string][] = [
    ["nonsense\r\n\r\n", "bad_request"],
    ["GET / HTTP/1.1\r\n\r\n", "bad_request"],
    [requestText("GET /", [`x: ${"x".repeat(70_000)}`]), "headers_too_large"],
  ];
  for (const [bytes, code] of nonsense) {
    for (const before of ["", requestText("GET /good")]) {
      using client = await rig.connect();
      await client.send(before + bytes + requestText("GET /smuggled"));
      if (before) equal((await client.answer()).status, 200);
      const { status, headers, body } = await client.answer();
      deepEqual([status, headers.get("connection"), body], [400, "close", code]);
      await client.send(requestText("GET /later"));
      equal(await client.rest(), "");
    }
  }
  deepEqual(seen, nonsense.map(() => "/good"));
  deepEqual(rig.refused.map(({ code }) => code), nonsense.flatMap(([, code]) => [code, code]));
});

Deno.test("HttpServer serves on, when twenty clients leave at once", async () => {
  let arrived = 0;
  let aborted = 0;
  const all = Promise.withResolvers<void>();
  await using rig = listenHttp(async (request): Promise<ServerAnswer> => {
    if (pathOf(request) === "/still") return textAnswer("here");
    arrived++;
    const gone = Promise.withResolvers<void>();
    request.signal.addEventListener("abort", () => gone.resolve());
    await gone.promise;
    if (++aborted === 20) all.resolve();
    return textAnswer("nobody");
  });
  using staying = await rig.connect();
  const clients = await Promise.all(Array.from({ length: 20 }, () => rig.connect()));
  for (const client of clients) await client.send(requestText("GET /"));
  await eventually(() => arrived === 20, deadlineMs);
  for (const client of clients) client.close();
  await within(deadlineMs, all.promise);
  await staying.send(requestText("GET /still"));
  equal((await staying.answer()).body, "here");
});

Deno.test("HttpServer.listen throws when the port is taken", async () => {
  await using rig = listenHttp(() => textAnswer("x"));
  const { handlers } = rig.server;
  throws(() => HttpServer.listen("127.0.0.1", rig.port, handlers), Deno.errors.AddrInUse);
});

Deno.test("HttpServer.shutdown waits for what runs, ends idle connections at once and takes no new ones", async () => {
  const arrived = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  await using rig = listenHttp(async (request) => {
    if (pathOf(request) !== "/busy") return textAnswer("at once");
    arrived.resolve();
    await gate.promise;
    return textAnswer("whole");
  });
  using idle = await rig.connect();
  using halfway = await rig.connect();
  for (const client of [idle, halfway]) {
    await client.send(requestText("GET /"));
    equal((await client.answer()).body, "at once");
  }
  await halfway.send("GET / HT");
  using busy = await rig.connect();
  await busy.send(requestText("GET /busy"));
  await within(deadlineMs, arrived.promise);
  let isDown = false;
  const down = rig.server.shutdown().then(() => isDown = true);
  equal(await idle.rest(), "");
  // What it had not read makes the system break the connection instead of ending it.
  equal(await halfway.rest().catch(() => ""), "");
  await rejects(rig.connect(), Deno.errors.ConnectionRefused);
  equal(isDown, false);
  gate.resolve();
  const { headers, body } = await busy.answer();
  deepEqual([headers.get("connection"), body], ["close", "whole"]);
  equal(await busy.rest(), "");
  await within(deadlineMs, down);
});

Deno.test("HttpServer.shutdown settles for everyone who asked for it", async () => {
  const gate = Promise.withResolvers<void>();
  const arrived = Promise.withResolvers<void>();
  const { server, connect } = listenHttp(async () => {
    arrived.resolve();
    await gate.promise;
    return textAnswer("x");
  });
  using client = await connect();
  await client.send(requestText("GET /"));
  await within(deadlineMs, arrived.promise);
  const both = [server.shutdown(), server.shutdown()];
  gate.resolve();
  await within(deadlineMs, Promise.all(both));
  await within(deadlineMs, server.shutdown());
});

Deno.test("HttpServer.shutdown waits for no client that only has to finish its own part", async (t) => {
  const held: Record<string, string> = {
    "the rest of a body that was answered": requestText("POST /", ["content-length: 10"], "abc"),
    "its side of a connection that is refused": "nonsense\r\n\r\n",
  };
  for (const [what, bytes] of Object.entries(held)) {
    await t.step(what, async () => {
      const rig = listenHttp(() => textAnswer("x"));
      using client = await rig.connect();
      await client.send(bytes);
      ok((await client.answer()).status > 0);
      await within(1_000, rig.server.shutdown());
    });
  }
});
