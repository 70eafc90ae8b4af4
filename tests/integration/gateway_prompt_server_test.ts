import { equal, throws } from "node:assert/strict";
import { servePromptly } from "../../lib/gateway/prompt_server.ts";
import { within } from "../support/within.ts";

const deadlineMs = 5_000;
const encoder = new TextEncoder();

Deno.test("servePromptly answers on kept connections, and ends them when it shuts down", async () => {
  const peers = new Set<number>();
  const server = servePromptly(
    async (request, { remoteAddr }) => {
      peers.add((remoteAddr as Deno.NetAddr).port);
      return new Response(await request.text());
    },
    "127.0.0.1",
    0,
  )!;
  const url = `http://127.0.0.1:${server.addr.port}`;
  for (const body of ["a", "b", "c"]) {
    equal(await (await fetch(url, { method: "POST", body })).text(), body);
  }
  equal(peers.size, 1);
  await within(deadlineMs, server.shutdown());
  const isRefused = await fetch(url).then(() => false, () => true);
  equal(isRefused, true);
});

Deno.test("servePromptly waits at its shutdown for an answer that runs", async () => {
  const more = Promise.withResolvers<void>();
  const server = servePromptly(
    () =>
      new Response(
        new ReadableStream({
          async start(controller) {
            controller.enqueue(encoder.encode("first "));
            await more.promise;
            controller.enqueue(encoder.encode("last"));
            controller.close();
          },
        }),
      ),
    "127.0.0.1",
    0,
  )!;
  const response = await fetch(`http://127.0.0.1:${server.addr.port}`);
  const closed = server.shutdown();
  more.resolve();
  equal(await within(deadlineMs, response.text()), "first last");
  await within(deadlineMs, closed);
});

Deno.test("servePromptly says that a port is taken", () => {
  using taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = taken.addr as Deno.NetAddr;
  throws(() => servePromptly(() => new Response(), "127.0.0.1", port), Deno.errors.AddrInUse);
});

Deno.test("servePromptly goes on after clients who leave at once", async () => {
  const server = servePromptly(() => new Response("here"), "127.0.0.1", 0)!;
  const { port } = server.addr;
  for (let count = 0; count < 20; count++) (await Deno.connect({ port })).close();
  equal(await (await fetch(`http://127.0.0.1:${port}`)).text(), "here");
  await within(deadlineMs, server.shutdown());
});
