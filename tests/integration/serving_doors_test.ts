// What does a head let strangers do and see?
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { createHash } from "node:crypto";
import { askChat } from "../support/ask_chat.ts";
import { eventually } from "../support/eventually.ts";
import { startProcessMesh } from "../support/process_mesh.ts";
import { tableAt, type TableRow } from "../support/table_at.ts";

const key = "sk-otela-of-a-test";
const bearer = { authorization: `Bearer ${key}` };

Deno.test("a head on all addresses asks for keys when it has some, and shows less when it has none", async (t) => {
  const keys = await Deno.makeTempFile();
  const hash = createHash("sha256").update(key).digest("hex");
  await Deno.writeTextFile(keys, `# clients\n${hash} a test\n`);
  try {
    await using mesh = await startProcessMesh([{}]);
    const [{ node: worker }] = mesh.workers;
    const everywhere = [...mesh.join, "--role", "head", "--host", "0.0.0.0"];
    const open = await mesh.startNode("open", everywhere);
    const keyed = await mesh.startNode("keyed", [...everywhere, "--client.keys", keys]);
    // The address may be that of all interfaces; here it is asked on loopback.
    const http = (node: { http: string }) => `http://127.0.0.1:${new URL(node.http).port}`;
    /** The worker's row, once it is there. */
    const rowOf = async (node: { http: string }, headers = {}) => {
      let row: TableRow | undefined;
      await eventually(async () => {
        row = (await tableAt({ http: http(node) }, headers))[`/${worker.peerId}`];
        return row?.status === "alive";
      });
      return row!;
    };
    const statusOf = async (path: string, headers: Record<string, string> = {}) => {
      const response = await fetch(http(keyed) + path, { headers });
      await response.body?.cancel();
      return response.status;
    };

    await t.step("without a key everything but health is refused, in OpenAI's words", async () => {
      equal(await statusOf("/v1/health"), 200);
      for (const path of ["/v1/models", "/v1/dnt/table", "/metrics", "/v1/service/llm/echo"]) {
        deepEqual([path, await statusOf(path)], [path, 401]);
      }
      const refused = await askChat(http(keyed), "test-model");
      deepEqual([refused.status, refused.code], [401, "unauthorized"]);
      const wrong = await askChat(http(keyed), "test-model", {
        headers: { authorization: `Bearer ${key}x` },
      });
      equal(wrong.status, 401);
    });

    await t.step("with the key it serves, and the engine does not learn it", async () => {
      await rowOf(keyed, bearer);
      const answer = await askChat(http(keyed), "test-model", { headers: bearer });
      deepEqual([answer.status, answer.worker], [200, worker.peerId]);
      const { headers } = mesh.workers[0].engine.log.requests.findLast(({ path }) =>
        path === "/v1/chat/completions"
      )!;
      ok(!headers.some(([name, value]) => name === "authorization" || value.includes(key)));
      ok(!keyed.program.stderr.text.includes(key));
    });

    await t.step(
      "a head without keys warns, serves, and keeps addresses and hardware to itself",
      async () => {
        match(open.program.stderr.text, /door\.open host=0\.0\.0\.0/);
        const hidden = await rowOf(open);
        deepEqual([hidden.public_address, hidden.owner, hidden.addresses], ["", "", undefined]);
        deepEqual((hidden.hardware as { host_memory: number }).host_memory, 0);
        const peers = await (await fetch(`${http(open)}/v1/dnt/peers`)).text();
        const metrics = await (await fetch(`${http(open)}/metrics`)).text();
        const port = worker.multiaddrs[0].split("/")[4];
        for (const text of [peers, metrics]) ok(!text.includes(`/tcp/${port}`));
        equal((await askChat(http(open), "test-model")).status, 200);
        ok(!keyed.program.stderr.text.includes("door.open"));
      },
    );

    await t.step("one with keys, or on loopback, shows them", async () => {
      for (const shown of [await rowOf(keyed, bearer), await rowOf(mesh.head)]) {
        equal(shown.public_address, "127.0.0.1");
        ok((shown.hardware as { host_memory: number }).host_memory > 0);
      }
    });
  } finally {
    await Deno.remove(keys);
  }
});
