// What becomes of a mesh when its nodes are restarted?
import { deepEqual, equal, ok } from "node:assert/strict";
import { askChat } from "../support/ask_chat.ts";
import { eventually } from "../support/eventually.ts";
import { type NodeProcess, startNode } from "../support/node_process.ts";
import { onLoopback, serviceArgs, startProcessMesh, untilServed } from "../support/process_mesh.ts";
import { tableAt } from "../support/table_at.ts";

Deno.test("C042: a worker that is restarted 20 times, by TERM and KILL in turn, is one entry each time", async () => {
  await using mesh = await startProcessMesh([{}]);
  const [{ node: first, engine }] = mesh.workers;
  const args = [...mesh.join, ...serviceArgs(engine)];
  let node = first;
  for (let restart = 0; restart < 20; restart++) {
    if (restart % 2 === 0) await node.kill();
    else equal((await node.program.end()).code, 0);
    node = await mesh.startNode("worker-0", args);
    equal(node.peerId, first.peerId);
    await eventually(async () => (await askChat(mesh.head.http, "test-model")).status === 200);
    const rows = Object.values(await tableAt(mesh.head)).filter(({ role }) => role[0] === "worker");
    deepEqual(rows.map(({ id, status }) => [id, status]), [[first.peerId, "alive"]]);
  }
});

Deno.test("B82: a head that is restarted on its port has its workers back in 3 s, and two heads find each other either way", async (t) => {
  await using mesh = await startProcessMesh([{ models: ["first"] }, { models: ["second"] }]);
  const port = mesh.head.multiaddrs[0].split("/")[4];
  const workers = mesh.workers.map(({ node }) => node);
  const restartHead = (args: readonly string[]): Promise<NodeProcess> =>
    startNode({
      home: `${mesh.home}/head`,
      args: [...onLoopback, "--role", "head", "--port", "0", "--tcpport", port, ...args],
      ports: "default",
    });
  await mesh.head.kill();
  let other: NodeProcess;
  {
    await using head = await restartHead([]);
    await t.step("a killed head: requests succeed within 3 s of its start", async () => {
      equal(head.peerId, mesh.head.peerId);
      await untilServed(head, ["first", "second"], workers, 3_000);
      for (const [index, model] of ["first", "second"].entries()) {
        const answer = await askChat(head.http, model);
        deepEqual([answer.status, answer.worker], [200, workers[index].peerId]);
      }
    });
    other = await mesh.startNode("other", [...mesh.join, "--role", "head"]);
    await untilServed(other, ["first", "second"], workers);
    await head.program.end();
  }
  await t.step("a second head serves while the first is away", async () => {
    const answer = await askChat(other.http, "first");
    deepEqual([answer.status, answer.worker], [200, workers[0].peerId]);
  });
  await using head = await restartHead(["--bootstrap.source", other.multiaddrs[0]]);
  await t.step("heads that bootstrap from each other have one table", async () => {
    const peers = [head, other, ...workers].map(({ peerId }) => peerId).sort();
    for (const node of [head, other]) {
      await eventually(async () => {
        const rows = Object.values(await tableAt(node));
        ok(rows.every(({ status }) => status === "alive"));
        return rows.map(({ id }) => id).sort().join() === peers.join();
      });
      equal((await askChat(node.http, "second")).worker, workers[1].peerId);
    }
  });
});
