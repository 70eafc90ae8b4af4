// Do real nodes notice who is here, who is not, and say so everywhere?
import { deepEqual, equal, ok } from "node:assert/strict";
import { eventually } from "../support/eventually.ts";
import type { NodeProcess } from "../support/node_process.ts";
import { startProcessMesh } from "../support/process_mesh.ts";
import { tableAt } from "../support/table_at.ts";

/** What each of the nodes says of a peer, as `status/reason`. */
async function saidOf(peer: string, nodes: readonly NodeProcess[]): Promise<string[]> {
  const tables = await Promise.all(nodes.map((node) => tableAt(node)));
  return tables.map((table) => {
    const row = table[`/${peer}`];
    return row ? `${row.status}/${row.reason}` : "unknown";
  });
}

/** Waits until all say so. @returns How long it took. */
async function untilSaid(
  status: RegExp,
  peer: string,
  nodes: readonly NodeProcess[],
  deadlineMs: number,
): Promise<number> {
  const startMs = performance.now();
  let said: string[] = [];
  try {
    await eventually(async () => {
      said = await saidOf(peer, nodes);
      return said.every((one) => status.test(one));
    }, deadlineMs);
  } catch (cause) {
    throw new Error(`They say ${said.join(", ")}`, { cause });
  }
  return performance.now() - startMs;
}

Deno.test("every node of a mesh notices who is frozen, killed, gone and back", async (t) => {
  await using mesh = await startProcessMesh([{}, {}, {}]);
  const nodes = [mesh.head, ...mesh.workers.map(({ node }) => node)];
  const [head, first, second, third] = nodes;
  await t.step("all say of all that they are alive", async () => {
    for (const { peerId } of nodes) await untilSaid(/^alive\//, peerId, nodes, 10_000);
  });

  await t.step("nobody is called left that was frozen for 6 s", async () => {
    first.program.signal("SIGSTOP");
    const endMs = performance.now() + 6_000;
    const others = [head, second, third];
    while (performance.now() < endMs) {
      for (const said of await saidOf(first.peerId, others)) ok(!said.startsWith("left"), said);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    first.program.signal("SIGCONT");
    await untilSaid(/^alive\//, first.peerId, others, 3_000);
  });

  await t.step(
    "who is frozen for longer is called left by all between 8 and 14 s, and is back at once",
    async () => {
      first.program.signal("SIGSTOP");
      const others = [head, second, third];
      const ms = await untilSaid(/^left\/failed/, first.peerId, others, 16_000);
      ok(ms >= 8_000, `after ${ms} ms`);
      const { seen_by: by } = (await tableAt(head))[`/${first.peerId}`];
      ok(Array.isArray(by) && by.length > 0);
      first.program.signal("SIGCONT");
      await untilSaid(/^alive\//, first.peerId, nodes, 5_000);
      for (const { peerId } of others) await untilSaid(/^alive\//, peerId, [first], 10_000);
    },
  );

  await t.step("who is killed has left for all within two seconds", async () => {
    await second.kill();
    await untilSaid(/^left\//, second.peerId, [head, first, third], 2_000);
  });

  await t.step("B29: who leaves in order says so to all", async () => {
    equal((await third.program.end()).code, 0);
    await untilSaid(/^left\/drained/, third.peerId, [head, first], 1_000);
    deepEqual((await tableAt(first))[`/${third.peerId}`].seen_by, [third.peerId]);
  });
});
