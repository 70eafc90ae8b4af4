// Does a call of a program reach a service as a client's would, and come back as one?
import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { type Handler, OtelaError, parsePeerId } from "../../mod.ts";
import { Pair, patienceMs, startLocal, untilOffered } from "../support/toolkit_mesh.ts";
import { within } from "../support/within.ts";

const any = { fallback: "all" as const };
const stranger = parsePeerId("12D3KooWGRUPcSGwbkBbHGfbuoCgbZ1L8fLBmVBPGkSmtXPs9fgX");

/** Says what it was asked, as JSON. */
const mirror: Handler = async (request) => {
  const { pathname, search } = new URL(request.url);
  const body = new Uint8Array(await request.arrayBuffer());
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", body)).toHex();
  const headers = Object.fromEntries(request.headers);
  return Response.json({
    method: request.method,
    target: pathname + search,
    headers,
    length: body.length,
    hash,
  });
};

Deno.test("fetch carries method, path, headers and body as they are, and no credentials", async () => {
  await using pair = await Pair.start({ name: "mirror", handler: mirror });
  const response = await pair.caller.fetch("service:mirror/a%2Fb/c?d=1&d=2", {
    ...any,
    method: "PUT",
    headers: { authorization: "Bearer secret", cookie: "a=b", "x-own": "kept" },
    body: "hello",
  });
  equal(response.status, 200);
  equal(response.headers.get("x-computing-node"), pair.worker.peerId);
  ok(response.headers.get("x-request-id"));
  const { method, target, headers, length } = await response.json();
  deepEqual([method, target, length], ["PUT", "/a%2Fb/c?d=1&d=2", 5]);
  equal(headers["x-own"], "kept");
  equal(headers["content-length"], "5");
  equal(headers.authorization ?? headers.cookie ?? headers["x-otela-fallback"], undefined);
});

Deno.test("fetch sends bodies of every form, at any length", async () => {
  await using pair = await Pair.start({ name: "mirror", handler: mirror });
  const bytes = new Uint8Array(1_500_000).map((_, at) => at * 7);
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
  const bodies: BodyInit[] = [bytes, new Blob([bytes]), new Blob([bytes]).stream()];
  for (const body of bodies) {
    const init = { ...any, method: "POST", body, headers: { "content-type": "a/b" } };
    const answer = await (await pair.caller.fetch("service:mirror/", init)).json();
    deepEqual([answer.length, answer.hash], [bytes.length, hash]);
  }
  const asRequest = new Request("service:mirror/x", { method: "POST", body: "abc" });
  equal((await (await pair.caller.fetch(asRequest, any)).json()).length, 3);
});

Deno.test("fetch routes by the model that a body names, and by what the call names", async () => {
  const named = (name: string): Handler => () => new Response(name);
  await using a = await startLocal({
    services: [{ name: "m", identityGroups: ["model=a"], handler: named("a") }],
  });
  await using b = await startLocal({
    bootstrap: a.multiaddrs(),
    services: [{ name: "m", identityGroups: ["model=b"], handler: named("b") }],
  });
  await Promise.all([a, b].map((node) => untilOffered(node, "m", 2)));
  const json = { method: "POST", headers: { "content-type": "application/json" } };
  for (const model of ["a", "b"]) {
    const body = JSON.stringify({ model });
    equal(await (await a.fetch("service:m/x", { ...json, body })).text(), model);
    const init = { identityGroup: `model=${model}` };
    equal(await (await b.fetch("service:m/x", init)).text(), model);
  }
  equal(await (await a.fetch(`peer:${b.peerId}/m/x`)).text(), "b");
  const onlyA = { ...json, body: '{"model":"b"}', allowedPeers: [a.peerId] };
  await rejects(a.fetch("service:m/x", onlyA), { code: "no_candidate" });
});

Deno.test("fetch follows no redirect: it says where one leads, as an address of the mesh", async () => {
  const handler: Handler = () =>
    new Response(null, { status: 307, headers: { location: "/new?place" } });
  await using pair = await Pair.start({ name: "moved", handler });
  const { worker: { peerId }, caller } = pair;
  for (const prefix of ["service:moved", `peer:${peerId}/moved`]) {
    const response = await caller.fetch(`${prefix}/old`, any);
    deepEqual([response.status, response.headers.get("location")], [307, `${prefix}/new?place`]);
  }
});

Deno.test("fetch streams: a piece arrives before the next is made", async () => {
  const asked = Promise.withResolvers<void>();
  const handler: Handler = () => {
    const pieces = async function* () {
      yield "data: one\n\n";
      await asked.promise;
      yield "data: two\n\n";
    };
    const body = ReadableStream.from(pieces()).pipeThrough(new TextEncoderStream());
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  };
  await using pair = await Pair.start({ name: "talk", handler });
  const { body } = await pair.caller.fetch("service:talk/", any);
  const reader = body!.pipeThrough(new TextDecoderStream()).getReader();
  equal((await within(patienceMs, reader.read())).value, "data: one\n\n");
  asked.resolve();
  equal((await within(patienceMs, reader.read())).value, "data: two\n\n");
  equal((await reader.read()).done, true);
});

Deno.test("a signal ends a call that waits, and the service hears of it", async () => {
  const called = Promise.withResolvers<void>();
  const gone = Promise.withResolvers<void>();
  const handler: Handler = ({ signal }) => {
    called.resolve();
    signal.addEventListener("abort", () => gone.resolve());
    return new Promise(() => {});
  };
  await using pair = await Pair.start({ name: "think", handler });
  const stop = new AbortController();
  const reason = new Error("changed my mind");
  const call = pair.caller.fetch("service:think/", { ...any, signal: stop.signal });
  await within(patienceMs, called.promise);
  stop.abort(reason);
  await rejects(call, reason);
  await within(patienceMs, gone.promise);
  const late = pair.caller.fetch("service:think/", { ...any, signal: stop.signal });
  await rejects(late, reason);
});

for (const how of ["a signal", "cancel"]) {
  Deno.test(`${how} ends an answer that has begun, and the service hears of it`, async () => {
    const gone = Promise.withResolvers<void>();
    const handler: Handler = () => {
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => controller.enqueue(new TextEncoder().encode("data: one\n\n")),
        cancel: () => gone.resolve(),
      });
      return new Response(body, { headers: { "content-type": "text/event-stream" } });
    };
    await using pair = await Pair.start({ name: "talk", handler });
    const stop = new AbortController();
    const { body } = await pair.caller.fetch("service:talk/", { ...any, signal: stop.signal });
    const reader = body!.getReader();
    await reader.read();
    if (how === "cancel") await reader.cancel();
    else {
      const reason = new Error("enough");
      const next = reader.read();
      stop.abort(reason);
      await rejects(next, reason);
    }
    await within(patienceMs, gone.promise);
  });
}

Deno.test("fetch fails with the door's codes, before anything and in the middle", async () => {
  const handler: Handler = () => {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new Uint8Array(10)),
    });
    return new Response(body, { headers: { "content-type": "application/octet-stream" } });
  };
  await using pair = await Pair.start({ name: "half", handler });
  const { worker, caller } = pair;
  const fails: [string, string][] = [
    ["http://example.org/", "bad_request"],
    ["service:a b/", "bad_request"],
    ["service:half/../../etc", "bad_request"],
    ["peer:nobody/half/", "bad_peer_id"],
    ["service:other/", "no_such_service"],
    ["service:half/", "model_not_found"],
    [`peer:${stranger}/half/`, "peer_unreachable"],
    [`peer:${worker.peerId}/other/`, "no_candidate"],
  ];
  for (const [address, code] of fails) {
    await rejects(caller.fetch(address), (error) => {
      ok(error instanceof OtelaError, `${address}: ${error}`);
      equal(error.code, code, address);
      return true;
    });
  }
  await rejects(caller.fetch("service:half/", { headers: { upgrade: "websocket" } }), {
    code: "upgrade_unsupported",
  });

  const response = await caller.fetch("service:half/", any);
  const reader = response.body!.getReader();
  await reader.read();
  await worker.stop({ drainMs: 0 });
  await rejects(reader.read(), (error) => {
    ok(error instanceof OtelaError);
    equal(error.code, "worker_failed");
    deepEqual([error.fields.phase, typeof error.fields.requestId], ["body", "string"]);
    return true;
  });
});

Deno.test("fetch asks another peer when one is lost, and the program notices nothing", async () => {
  const service = { name: "echo", handler: () => new Response("hi") };
  await using head = await startLocal({ role: "head" });
  const workers = await Promise.all(
    [1, 2].map(() => startLocal({ bootstrap: head.multiaddrs(), services: [service] })),
  );
  await using _last = workers[1];
  await untilOffered(head, "echo", 2);
  const stopped = workers[0].stop({ drainMs: 0 });
  for (let count = 0; count < 40; count++) {
    equal(await (await head.fetch("service:echo/", any)).text(), "hi");
  }
  await stopped;
});

Deno.test("a function is served with the limits of an engine: a slow reader holds it back", async () => {
  let made = 0;
  const handler: Handler = () => {
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        made += 64 * 1024;
        controller.enqueue(new Uint8Array(64 * 1024));
      },
    }, { highWaterMark: 0 });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  };
  await using pair = await Pair.start({ name: "flood", handler });
  const { body } = await pair.caller.fetch("service:flood/", any);
  const reader = body!.getReader();
  await reader.read();
  // Nobody reads: what is made stops growing once the windows on the way are full.
  let before = -1;
  while (before !== made) {
    before = made;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  ok(made < 16 * 1024 * 1024, `${made} bytes were made for a reader that reads nothing`);
  await reader.cancel();
});
