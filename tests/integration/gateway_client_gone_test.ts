import { deepEqual, equal } from "node:assert/strict";
import { watchClient } from "../../lib/gateway/client_gone.ts";
import { ClientSweep } from "../../lib/gateway/client_sweep.ts";
import { HttpServer } from "../../lib/server/http_server.ts";
import type { ServerHandlers, ServerRequest } from "../../lib/server/types.ts";
import { fixture } from "../unit/gateway/fixture.ts";
import { within } from "../support/within.ts";

const deadlineMs = 5_000;

type Counted = { ok: number; client_gone: number };

/** Starts to watch a request's client; the result stops it. */
type Watch = (request: ServerRequest, gone: () => void) => () => void;

/** A door whose forwarder decides who is gone as the forward path does: by the watch, then by `cancel`. */
function counting(watch: Watch, answer: (gone: Promise<void>) => Promise<"whole" | "endless">) {
  const counted: Counted = { ok: 0, client_gone: 0 };
  const changed = Promise.withResolvers<void>();
  const count = (outcome: keyof Counted): void => {
    counted[outcome]++;
    if (outcome === "client_gone") changed.resolve();
  };
  const { door } = fixture({
    forwarder: {
      async forward(request) {
        const gone = Promise.withResolvers<void>();
        let isGone = false;
        const answered = watch(request, () => {
          isGone = true;
          count("client_gone");
          gone.resolve();
        });
        const kind = await answer(gone.promise);
        answered();
        if (isGone) return new Response("nobody reads this");
        return new Response(
          new ReadableStream({
            start(controller) {
              controller.enqueue(new TextEncoder().encode("first"));
              if (kind === "endless") return;
              controller.close();
              count("ok");
            },
            cancel: () => count("client_gone"),
          }),
        );
      },
    },
  });
  return { door, counted, gone: changed.promise };
}

function serve(door: ServerHandlers) {
  const server = HttpServer.listen("127.0.0.1", 0, door);
  return { addr: server.addr, [Symbol.asyncDispose]: () => server.shutdown() };
}

async function thousandGood(watch: Watch): Promise<void> {
  const { door, counted } = counting(watch, () => Promise.resolve("whole"));
  await using server = serve(door);
  const url = `http://127.0.0.1:${server.addr.port}/v1/service/llm/x`;
  for (let batch = 0; batch < 20; batch++) {
    const answers = Array.from({ length: 50 }, async () => await (await fetch(url)).text());
    for (const text of await within(deadlineMs, Promise.all(answers))) equal(text, "first");
  }
  deepEqual(counted, { ok: 1_000, client_gone: 0 });
}

async function leavesEarly(watch: Watch): Promise<void> {
  const arrived = Promise.withResolvers<void>();
  const { door, counted, gone } = counting(watch, async (gone) => {
    arrived.resolve();
    await gone;
    return "whole";
  });
  await using server = serve(door);
  const connection = await Deno.connect({ hostname: "127.0.0.1", port: server.addr.port });
  await connection.write(
    new TextEncoder().encode("GET /v1/service/llm/x HTTP/1.1\r\nHost: head.example\r\n\r\n"),
  );
  await within(deadlineMs, arrived.promise);
  connection.close();
  await within(deadlineMs, gone);
  deepEqual(counted, { ok: 0, client_gone: 1 });
}

async function leavesInStream(watch: Watch): Promise<void> {
  const { door, counted, gone } = counting(watch, () => Promise.resolve("endless"));
  await using server = serve(door);
  const url = `http://127.0.0.1:${server.addr.port}/v1/service/llm/x`;
  const abort = new AbortController();
  const response = await fetch(url, { signal: abort.signal });
  const reader = response.body!.getReader();
  equal(new TextDecoder().decode((await within(deadlineMs, reader.read())).value), "first");
  abort.abort();
  await reader.closed.catch(() => {});
  await within(deadlineMs, gone);
  deepEqual(counted, { ok: 0, client_gone: 1 });
}

/** Both ways to watch: each request by itself, and all that wait a few times a second. */
async function onEach(t: Deno.TestContext, run: (watch: Watch) => Promise<void>): Promise<void> {
  await t.step(
    "watchClient",
    () => run((request, gone) => watchClient(request.signal, gone).answered),
  );
  await t.step("ClientSweep", async () => {
    const sweep = new ClientSweep();
    await run((request, gone) => sweep.watch(request, gone));
    sweep.close();
  });
}

Deno.test("C014: a thousand good answers count no client as gone, though signals may abort", async (t) => {
  await onEach(t, thousandGood);
});

Deno.test("C014: a client that leaves before the answer is gone, and counted once", async (t) => {
  await onEach(t, leavesEarly);
});

Deno.test("C014: a client that leaves in the middle of a stream is gone, and counted once", async (t) => {
  await onEach(t, leavesInStream);
});
