// What becomes of requests when a worker is lost?
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { eventually } from "../support/eventually.ts";
import { modelsAt, startProcessMesh, untilServed } from "../support/process_mesh.ts";
import { within } from "../support/within.ts";

const chat = (model: string, more: Record<string, unknown> = {}) => ({
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ model, messages: [{ role: "user", content: "hello" }], ...more }),
});

Deno.test("a mesh goes on when a worker is killed, and says what is gone", async (t) => {
  await using mesh = await startProcessMesh([
    { models: ["shared", "first"] },
    { models: ["shared", "second"] },
  ]);
  const url = `${mesh.head.http}/v1/chat/completions`;
  const [first, second] = mesh.workers;

  await t.step(
    "C006: a stream that is cut tells its client, and does not end cleanly",
    async () => {
      const response = await fetch(
        url,
        chat("first", { stream: true, x_engine: { tokens: 5_000, intervalMs: 20 } }),
      );
      equal(response.headers.get("x-computing-node"), first.node.peerId);
      const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
      let text = (await within(5_000, reader.read())).value ?? "";
      await first.node.kill();
      const broken = within(
        1_000,
        (async () => {
          for (;;) {
            const { done, value } = await reader.read();
            if (done) return false;
            text += value;
          }
        })().catch(() => true),
      );
      equal(await broken, true);
      const last = text.trimEnd().split("\n\n").at(-1) ?? "";
      match(last, /^data: \{"error":/);
      ok(!text.includes("[DONE]"));
    },
  );

  await t.step("the next requests succeed at once, on the other worker", async () => {
    for (let count = 0; count < 20; count++) {
      const response = await fetch(url, chat("shared"));
      equal(response.status, 200);
      equal(response.headers.get("x-computing-node"), second.node.peerId);
      await response.body?.cancel();
    }
  });

  await t.step("C036: the list of models is what living workers serve", async () => {
    await eventually(async () =>
      [...(await modelsAt(mesh.head)).keys()].join() === "second,shared"
    );
  });

  await t.step("what only the lost one had is a 503 that says when to come back", async () => {
    const response = await fetch(url, chat("first"));
    equal(response.status, 503);
    ok(Number(response.headers.get("retry-after")) >= 1);
    equal((await response.json()).error.code, "no_candidate");
  });
});

Deno.test("what the only worker for it was doing, or a wildcard alone could serve, fails with a time to come back", async () => {
  await using mesh = await startProcessMesh([{ models: ["other"] }]);
  const wildcard = ["--service.identity_group", "model=*"];
  const wild = await mesh.startWorker("wild", { models: ["w"] }, wildcard);
  await untilServed(mesh.head, ["w"], [wild.node]);
  const url = `${mesh.head.http}/v1/chat/completions`;
  const facts = async (response: Response) => {
    const { error } = await response.json();
    return [response.status, error.code, response.headers.get("retry-after")];
  };
  const waiting = fetch(url, chat("w", { x_engine: { isHanging: true } }));
  await wild.engine.log.waitFor(({ bodyText }) => bodyText.includes("isHanging"));
  await wild.node.kill();
  deepEqual(await facts(await within(5_000, waiting)), [502, "worker_failed", "1"]);
  const anything = (level: string) => {
    const { headers, ...request } = chat("anything");
    return fetch(url, { ...request, headers: { ...headers, "x-otela-fallback": level } });
  };
  const seen = new Set<string>();
  await eventually(async () => {
    const [status, code, after] = await facts(await anything("1"));
    seen.add(`${status} after ${after}`);
    return status === 503 && code === "no_candidate";
  });
  // Until its death is noticed it is asked in vain.
  ok([...seen].every((one) => one === "503 after 1" || one === "502 after 1"), [...seen].join());
  deepEqual(await facts(await anything("0")), [404, "model_not_found", null]);
});

Deno.test("a mesh follows an engine that stops and comes back with another model", async () => {
  await using mesh = await startProcessMesh([{ models: ["before"] }]);
  const [{ engine }] = mesh.workers;
  engine.setModels(["after"]);
  await eventually(async () => [...(await modelsAt(mesh.head)).keys()].join() === "after", 5_000);
  engine.setHealth(500);
  await eventually(async () => (await modelsAt(mesh.head)).size === 0, 5_000);
  engine.setHealth(200);
  await eventually(async () => [...(await modelsAt(mesh.head)).keys()].join() === "after", 5_000);
  const response = await fetch(`${mesh.head.http}/v1/chat/completions`, chat("after"));
  equal(response.status, 200);
  await response.body?.cancel();
});
