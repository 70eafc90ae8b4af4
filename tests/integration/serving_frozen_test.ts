// What becomes of requests when a worker is frozen, neither dead nor alive?
import { equal, ok } from "node:assert/strict";
import { askChat, type ChatAnswer } from "../support/ask_chat.ts";
import { eventually } from "../support/eventually.ts";
import { startProcessMesh } from "../support/process_mesh.ts";

/** By then no new request goes to it (protocol, lanes); beside it, this machine's other work. */
const avoidedMs = 2_000 + 500;
/** By then what went to it has failed. */
const failedMs = 4_000 + 1_000;
const betweenMs = 50;

Deno.test("a frozen worker holds no request longer than 5 s, and none that begins 2 s later", async (t) => {
  await using mesh = await startProcessMesh([
    { name: "frozen", models: ["shared"] },
    { name: "other", models: ["shared"] },
  ]);
  const [frozen, other] = mesh.workers.map(({ node }) => node);
  const ask = () => askChat(mesh.head.http, "shared");
  await eventually(async () => (await ask()).worker === frozen.peerId); // So a lane to it is open.

  frozen.program.signal("SIGSTOP");
  const answers: { readonly atMs: number; readonly answer: ChatAnswer }[] = [];
  await t.step("while it is frozen", async () => {
    const startMs = performance.now();
    const asked: Promise<void>[] = [];
    for (;;) {
      const atMs = performance.now() - startMs;
      if (atMs > failedMs) break;
      asked.push(ask().then((answer) => void answers.push({ atMs, answer })));
      await new Promise((resolve) => setTimeout(resolve, betweenMs));
    }
    await Promise.all(asked);
    const caught = answers.filter(({ answer }) => answer.tookMs > avoidedMs / 2);
    ok(caught.length > 0, "no request went to it");
    for (const { atMs, answer } of answers) {
      ok(answer.tookMs < failedMs, `${answer.tookMs} ms for one at ${atMs} ms`);
      if (answer.status === 200) equal(answer.worker, other.peerId);
      else equal(answer.status, 504); // It may have begun there, and is not asked twice.
      if (atMs < avoidedMs) continue;
      equal(answer.status, 200, `${answer.code} at ${atMs} ms`);
      ok(answer.tookMs < 1_000, `${answer.tookMs} ms for one at ${atMs} ms`);
    }
  });

  await t.step("it serves again when it goes on", async () => {
    frozen.program.signal("SIGCONT");
    await eventually(async () => {
      const answer = await ask();
      equal(answer.status, 200);
      return answer.worker === frozen.peerId;
    }, 20_000);
  });
});
