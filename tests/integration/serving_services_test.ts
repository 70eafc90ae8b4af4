// How do the services of a node change, and what needs no mesh?
import { deepEqual, equal } from "node:assert/strict";
import { askChat } from "../support/ask_chat.ts";
import { startEngine } from "../support/engine.ts";
import { eventually } from "../support/eventually.ts";
import { startNode } from "../support/node_process.ts";
import { askOperatorOf } from "../support/node_status.ts";
import { onLoopback, serviceArgs, startProcessMesh } from "../support/process_mesh.ts";
import { tableAt } from "../support/table_at.ts";

/** Within which a change must be seen everywhere. */
const seenMs = 5_000;

Deno.test("B59: services of one node come from its file, and come and go over its operator door", async (t) => {
  await using mesh = await startProcessMesh([{ models: ["chat"] }]);
  const engines = ["llm", "speech", "late"].map((name) =>
    startEngine({ name, models: [`${name}-model`] })
  );
  const [llm, speech, late] = engines;
  const home = `${mesh.home}/several`;
  const echoOf = async (service: string, headers: Record<string, string> = {}) => {
    const response = await fetch(`${mesh.head.http}/v1/service/${service}/echo/x`, { headers });
    const { engine = null } = await response.json();
    return [response.status, engine];
  };
  const takesAll = { "x-otela-fallback": "2" };
  try {
    await Deno.mkdir(home);
    await Deno.writeTextFile(
      `${home}/cfg.yaml`,
      `services:
  - { name: llm, url: "${llm.url}", health_interval: 200ms, model_refresh: 200ms }
  - { name: speech, url: "${speech.url}", health_interval: 200ms, identity_group: [all] }
`,
    );
    const node = await mesh.startNode("several", [...mesh.join, "--config", `${home}/cfg.yaml`]);
    const servicesAtHead = async () => {
      const row = (await tableAt(mesh.head))[`/${node.peerId}`];
      return row?.service.map(({ name }) => name).join() ?? "";
    };

    await t.step("a file's services are each found by name", async () => {
      await eventually(async () => await servicesAtHead() === "llm,speech");
      equal((await askChat(mesh.head.http, "llm-model")).worker, node.peerId);
      deepEqual(await echoOf("speech", takesAll), [200, "speech"]);
    });

    await t.step("one that is added shows at the head and serves", async () => {
      await askOperatorOf(home, "service", "add", "late", late.url, "--identity-group", "all");
      await eventually(async () => await servicesAtHead() === "late,llm,speech", seenMs);
      deepEqual(await echoOf("late", takesAll), [200, "late"]);
    });

    await t.step("one that is removed goes from the head, and the others stay", async () => {
      await askOperatorOf(home, "service", "remove", "speech");
      await eventually(async () => await servicesAtHead() === "late,llm", seenMs);
      equal((await echoOf("speech", takesAll))[0], 404);
      equal((await askChat(mesh.head.http, "llm-model")).status, 200);
    });
  } finally {
    await Promise.all(engines.map((engine) => engine.stop()));
  }
});

Deno.test("a node's own service is served without the mesh, by head and worker alike", async () => {
  const home = await Deno.makeTempDir();
  const engine = startEngine({ name: "own" });
  try {
    for (const role of ["head", "worker"]) {
      await Deno.mkdir(`${home}/${role}`);
      await using node = await startNode({
        home: `${home}/${role}`,
        args: [...onLoopback, "--role", role, "--mode", "standalone", ...serviceArgs(engine)],
      });
      await eventually(async () => (await askChat(node.http, "test-model")).status === 200);
      for (
        const path of [
          "",
          "/v1/service/llm",
          "/v1/_service/llm",
          `/v1/p2p/${node.peerId}/v1/_service/llm`,
        ]
      ) {
        const answer = await askChat(node.http, "test-model", {
          path: `${path}/v1/chat/completions`,
        });
        deepEqual([answer.status, answer.worker, answer.engine], [200, node.peerId, "own"], path);
      }
    }
  } finally {
    await engine.stop();
    await Deno.remove(home, { recursive: true });
  }
});
