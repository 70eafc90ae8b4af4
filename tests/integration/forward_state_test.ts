import { deepEqual, equal } from "node:assert/strict";
import { type ForwardRig, startForwardRig } from "../support/forward_rig.ts";

/** Engines that keep their own answers and know no others. */
function startRig(): ForwardRig & { readonly asked: string[] } {
  const asked: string[] = [];
  const rig = startForwardRig({ engines: [{}, {}, {}] });
  const servers = rig.engines.map((_, index) => {
    const kept = new Set<string>();
    return Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
      const { pathname } = new URL(request.url);
      asked.push(`${index} ${request.method} ${pathname}`);
      const id = /responses\/(\w+)/.exec(pathname)?.[1];
      const missing = () =>
        Response.json({ error: { message: "no such response" } }, { status: 404 });
      if (id !== undefined) return kept.has(id) ? Response.json({ id, of: index }) : missing();
      const body = await request.json();
      const before = body.previous_response_id;
      if (before !== undefined && !kept.has(before)) return missing();
      const made = `resp_${index}_${kept.size}`;
      kept.add(made);
      if (!body.stream) return Response.json({ id: made, object: "response", of: index });
      const event = { type: "response.created", response: { id: made, object: "response" } };
      return new Response(`event: response.created\ndata: ${JSON.stringify(event)}\n\n`, {
        headers: { "content-type": "text/event-stream" },
      });
    });
  });
  servers.forEach((server, index) => rig.redirect(index, `http://127.0.0.1:${server.addr.port}`));
  return {
    ...rig,
    asked,
    async [Symbol.asyncDispose]() {
      await rig[Symbol.asyncDispose]();
      await Promise.all(servers.map((server) => server.shutdown()));
    },
  };
}

const create = { model: "test-model", input: "hi" };

Deno.test("what builds on an answer goes to the worker that gave it, from bodies, paths and streams", async () => {
  await using rig = startRig();
  const ids: string[] = [];
  for (let n = 0; n < 3; n++) {
    ids.push((await (await rig.post("/v1/responses", create)).json()).id);
  }
  const text = await (await rig.post("/v1/responses", { ...create, stream: true })).text();
  ids.push(/resp_\w+/.exec(text)![0]);
  rig.asked.length = 0;
  for (const id of ids) {
    const more = await rig.post("/v1/responses", { ...create, previous_response_id: id });
    equal(more.status, 200);
    await more.body?.cancel();
    for (const method of ["GET", "DELETE"]) {
      const one = await fetch(`${rig.url}/v1/responses/${id}`, { method });
      equal((await one.json()).id, id);
    }
    const canceled = await rig.post(`/v1/responses/${id}/cancel`, {});
    equal(canceled.status, 200);
    await canceled.body?.cancel();
  }
  deepEqual(rig.asked.map((line) => line[0]), ids.flatMap((id) => Array(4).fill(id[5])));
});

Deno.test("an answer that this head has not seen is looked for in turn, and is a 404 when nobody has it", async () => {
  await using rig = startRig();
  const { id } = await (await rig.post("/v1/responses", create)).json();
  const unseen = await fetch(`${rig.url}/v1/responses/resp_9_9`);
  equal(unseen.status, 404);
  equal((await unseen.json()).error.message, "no such response");
  deepEqual(rig.asked.slice(1), [0, 1, 2].map((n) => `${n} GET /v1/responses/resp_9_9`));
  // After a day the head knows the id no more than one that was started anew.
  rig.ports.answerPlaces.seen(id, rig.peers[2], -25 * 3_600_000);
  const found = await fetch(`${rig.url}/v1/responses/${id}`);
  equal((await found.json()).id, id);
});
