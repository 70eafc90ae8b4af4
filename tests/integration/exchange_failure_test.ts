// How do exchanges end that do not end well, and does the engine hear of it?
import { deepEqual, equal, ok } from "node:assert/strict";
import { parsePeerId } from "../../lib/base/peer_id.ts";
import type { BodyStream } from "../../lib/exchange/types.ts";
import { startEngine } from "../support/engine.ts";
import { startRawEngine } from "../support/engine_raw.ts";
import {
  bodyOf,
  failureOf,
  headOf,
  piecesOf,
  streamOf,
  textOf,
  ways,
} from "../support/exchange_calls.ts";
import { exchangePair, headPeer, upstreamOf, workerPeer } from "../support/exchange_pair.ts";
import { poolTo } from "../support/pool_call.ts";
import { within } from "../support/within.ts";

const post = headOf("/x", { method: "POST", bodyBytes: -1 });

/** A body that begins and goes on only when told. */
function openBody(first: Uint8Array<ArrayBuffer>) {
  let controller!: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>;
  const canceled = Promise.withResolvers<void>();
  const body: BodyStream = new ReadableStream({
    start(given) {
      controller = given;
      controller.enqueue(first);
    },
    cancel: () => canceled.resolve(),
  });
  return { body, canceled: canceled.promise, fail: (error: Error) => controller.error(error) };
}

for (const { name, peer } of ways) {
  Deno.test(`cancel ${name} closes the engine's call within a second, however far it had come`, async () => {
    const head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    const raw = await startRawEngine(["stall"], [{ send: head }, "stall"], [
      { send: head + "2\r\nok\r\n" },
      "stall",
    ]);
    {
      await using pair = exchangePair([upstreamOf(raw.url)]);
      const waiting = pair.client.request(peer, headOf("/"), null);
      await raw.headSeen(0);
      waiting.cancel("the test wants it");
      waiting.cancel("twice");
      const failure = await failureOf(waiting.response);
      deepEqual([failure.failure, failure.phase], ["canceled", "sent"]);
      await within(1_000, raw.clientGone(0));

      const headed = pair.client.request(peer, headOf("/"), null);
      await headed.response;
      headed.cancel("the test wants it");
      await within(1_000, raw.clientGone(1));

      const read = pair.client.request(peer, headOf("/"), null);
      const reader = piecesOf(await read.response).getReader();
      equal((await reader.read()).value?.length, 2);
      await reader.cancel();
      await within(1_000, raw.clientGone(2));
      equal(pair.calls.openCount, 0);
    }
    await raw.stop();
  });

  Deno.test(`a call ${name} that is canceled while it waits for a connection never reaches its engine`, async () => {
    const raw = await startRawEngine([
      { waitMs: 50 },
      { send: "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok" },
    ]);
    {
      const pool = poolTo(raw.url, { connectionsMax: 1 });
      await using pair = exchangePair([upstreamOf(raw.url, { pool })]);
      const first = pair.client.request(peer, headOf("/first"), null);
      const second = pair.client.request(peer, headOf("/second"), null);
      await raw.headSeen(0);
      second.cancel("the test wants it");
      equal((await failureOf(second.response)).failure, "canceled");
      await textOf(await first.response);
      await textOf(await pair.client.request(peer, headOf("/third"), null).response);
      ok(!raw.received.join("").includes("/second"));
    }
    await raw.stop();
  });

  Deno.test(`a body that breaks off ${name} cancels the exchange, and the engine never sees it whole`, async () => {
    const raw = await startRawEngine(["stall"]);
    {
      await using pair = exchangePair([upstreamOf(raw.url)]);
      const { body, fail } = openBody(new Uint8Array(10));
      const exchange = pair.client.request(peer, post, body);
      await raw.headSeen(0);
      fail(new Error("the client left"));
      equal((await failureOf(exchange.response)).failure, "canceled");
      await within(1_000, raw.clientGone(0));
      ok(!raw.received[0].includes("\r\n0\r\n\r\n"));
    }
    await raw.stop();
  });

  Deno.test(`an engine that is not there ${name} refuses, so that another may be asked`, async () => {
    const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const { port } = listener.addr;
    listener.close();
    await using pair = exchangePair([upstreamOf(`http://127.0.0.1:${port}`)]);
    for (const body of [null, streamOf(1_000_000, 10_000)]) {
      const failure = await failureOf(pair.client.request(peer, post, body).response);
      deepEqual([failure.failure, failure.phase], ["engine_unreachable", "refused"]);
    }
    equal(pair.calls.openCount, 0);
    equal(pair.budget.head.reservedBytes + pair.budget.worker.reservedBytes, 0);
  });

  Deno.test(`an exchange that failed ${name} reads no more of its request's body`, async () => {
    const raw = await startRawEngine(["close"]);
    {
      await using pair = exchangePair([
        upstreamOf(raw.url),
        upstreamOf(raw.url, { name: "none", allow: new Set() }),
      ]);
      for (const service of ["llm", ...(peer === workerPeer ? ["none"] : []), "absent"]) {
        const { body, canceled } = openBody(new Uint8Array(10));
        const request = pair.client.request(peer, { ...post, service }, body);
        await failureOf(request.response);
        // Read to its end into nowhere, it could not be sent again, and its client would go on sending.
        if (service !== "absent" || peer === workerPeer) await within(1_000, canceled);
      }
    }
    await raw.stop();
  });

  Deno.test(`an engine that dies ${name} fails with how far it had come`, async () => {
    const head = "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n";
    const raw = await startRawEngine(["reset"], [{ send: head + "partly" }, "close"]);
    {
      await using pair = exchangePair([upstreamOf(raw.url)]);
      const early = await failureOf(pair.client.request(peer, headOf("/"), null).response);
      deepEqual([early.failure, early.phase], ["engine_failed", "sent"]);
      const { body } = await pair.client.request(peer, headOf("/"), null).response;
      const late = await failureOf(bodyOf({ body }));
      deepEqual([late.failure, late.phase], ["engine_failed", "body"]);
    }
    await raw.stop();
  });

  Deno.test(`a request that no engine could read ${name} is refused, and costs nobody else anything`, async () => {
    const engine = startEngine();
    {
      await using pair = exchangePair([upstreamOf(engine.url)]);
      const other = pair.client.request(peer, headOf("/slow?n=3&interval=20"), null);
      for (
        const bad of [
          headOf("/", { headers: ["x-bad", "a\r\nb: c"] }),
          headOf("/", { headers: ["bad name", "1"] }),
          headOf("/with space"),
          headOf("/", { method: "BAD METHOD" }),
          headOf("/", { headers: ["transfer-encoding", "chunked"] }),
          headOf("/", { headers: ["Content-Length", "3"] }),
        ]
      ) {
        const failure = await failureOf(pair.client.request(peer, bad, null).response);
        deepEqual([failure.failure, failure.phase], ["engine_failed", "refused"]);
      }
      equal((await textOf(await other.response)).includes("piece2"), true);
      equal(pair.connections.length <= 1, true);
    }
    await engine.stop();
  });

  Deno.test(`an engine that answers early ${name} gets no more of the body, and its answer arrives`, async () => {
    const raw = await startRawEngine([
      { send: "HTTP/1.1 413 Too Large\r\ncontent-length: 5\r\n\r\nlarge" },
    ]);
    {
      await using pair = exchangePair([upstreamOf(raw.url)]);
      const { body, canceled } = openBody(new Uint8Array(10));
      const response = await pair.client.request(peer, post, body).response;
      deepEqual([response.status, await textOf(response)], [413, "large"]);
      await within(1_000, canceled);
      equal(pair.calls.openCount, 0);
    }
    await raw.stop();
  });

  Deno.test(`an engine silent past its limits ${name} fails, before its head and within its body`, async () => {
    const raw = await startRawEngine(["stall"], [
      { send: "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n" },
      "stall",
    ]);
    {
      const upstream = upstreamOf(raw.url, {
        headTimeoutMs: 200,
        firstTokenTimeoutMs: 300,
        idleTimeoutMs: 300,
      });
      await using pair = exchangePair([upstream]);
      const silent = failureOf(pair.client.request(peer, headOf("/"), null).response);
      await raw.headSeen(0);
      const begun = await pair.client.request(peer, headOf("/"), null).response;
      const failures = await within(5_000, Promise.all([silent, failureOf(bodyOf(begun))]));
      deepEqual(failures.map(({ failure }) => failure), ["engine_timed_out", "engine_timed_out"]);
      equal(failures[0].phase, "sent");
      await within(1_000, raw.clientGone(0));
      await within(1_000, raw.clientGone(1));
    }
    await raw.stop();
  });

  Deno.test(`a service that is not here ${name} is refused by name`, async () => {
    await using pair = exchangePair([]);
    const failure = await failureOf(pair.client.request(peer, headOf("/"), null).response);
    deepEqual([failure.failure, failure.phase], ["no_such_service", "refused"]);
    const socket = pair.client.openSocket(peer, headOf("/ws"), new AbortController().signal);
    deepEqual((await failureOf(socket)).phase, "refused");
  });
}

Deno.test("a worker refuses peers that its service does not allow, and its own engine stays open to itself", async () => {
  const engine = startEngine();
  {
    const stranger = parsePeerId("12D3KooWStrangerStrangerStrangerStrangerStrangerStra");
    await using pair = exchangePair([upstreamOf(engine.url, { allow: new Set([stranger]) })]);
    for (const body of [null, streamOf(100_000, 1_000)]) {
      const head = headOf("/echo", { method: "POST", bodyBytes: body ? 100_000 : 0 });
      const failure = await failureOf(pair.client.request(workerPeer, head, body).response);
      deepEqual([failure.failure, failure.phase], ["not_allowed", "refused"]);
    }
    const socket = pair.client.openSocket(workerPeer, headOf("/ws"), new AbortController().signal);
    equal((await failureOf(socket)).failure, "not_allowed");
    equal(engine.log.requests.length, 0);
    equal((await pair.client.request(headPeer, headOf("/echo"), null).response).status, 200);
  }
  {
    await using pair = exchangePair([upstreamOf(engine.url, { allow: new Set([headPeer]) })]);
    equal((await pair.client.request(workerPeer, headOf("/echo"), null).response).status, 200);
  }
  await engine.stop();
});
