import { equal, match } from "node:assert/strict";
import { startNode } from "../support/node_process.ts";
import { whileStreaming } from "../support/streaming_node.ts";
import { within } from "../support/within.ts";

const deadlineMs = 20_000;

Deno.test("C071: after CONT and TERM a running stream ends whole, and the node exits with 0", async () => {
  await whileStreaming(async ({ node, rest }) => {
    node.program.signal("SIGCONT");
    node.program.signal("SIGTERM");
    match(await within(deadlineMs, rest), /t59.*\[DONE\]\s*$/s);
    equal((await within(deadlineMs, node.program.ended)).code, 0);
  });
});

Deno.test("C071: a second signal ends the node at once, whatever runs", async () => {
  await whileStreaming(async ({ node, rest }) => {
    node.program.signal("SIGUSR1");
    await node.program.stderr.waitFor((line) => line.includes("node.stopping") || undefined, 5_000);
    node.program.signal("SIGTERM");
    equal((await within(deadlineMs, node.program.ended)).code, 143);
    equal((await rest).includes("[DONE]"), false);
  });
});

Deno.test("A node of a Slurm task has an instance of its own, and leaves none behind", async () => {
  const home = await Deno.makeTempDir({ prefix: "otela-e2e-" });
  try {
    const args = ["--host", "127.0.0.1", "--mesh.hosts", "127.0.0.1"];
    const env = { SLURM_JOB_ID: "77", SLURM_ARRAY_TASK_ID: "3" };
    const instances = () => [...Deno.readDirSync(`${home}/.local/state/opentela/instances`)];
    await using node = await startNode({ home, args, env });
    match(instances()[0].name, /^77-3-0-r0-/);
    node.program.signal("SIGTERM");
    equal((await within(deadlineMs, node.program.ended)).code, 0);
    equal(instances().length, 0);
  } finally {
    await Deno.remove(home, { recursive: true });
  }
});
