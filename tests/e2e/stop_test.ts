import { equal, match } from "node:assert/strict";
import { type Engine, startEngine } from "../support/engine.ts";
import { type NodeProcess, startNode } from "../support/node_process.ts";
import { within } from "../support/within.ts";

const deadlineMs = 20_000;
/** Long enough that both signals come in its middle. */
const tokens = 60;
const intervalMs = 25;

/** A node with a service of its own, in the middle of a long streamed answer. */
async function whileStreaming(
  use: (node: NodeProcess, rest: Promise<string>) => Promise<void>,
): Promise<void> {
  const home = await Deno.makeTempDir({ prefix: "otela-e2e-" });
  const engine: Engine = startEngine({ models: ["tiny"] });
  try {
    await using node = await startNode({
      home,
      args: [
        ...["--service.name", "llm", "--service.url", engine.url],
        ...["--host", "127.0.0.1", "--mesh.hosts", "127.0.0.1"],
      ],
    });
    while (!(await (await fetch(`${node.http}/v1/models`)).text()).includes("tiny"));
    const response = await fetch(`${node.http}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        model: "tiny",
        stream: true,
        messages: [{ role: "user", content: "count" }],
        x_engine: { tokens, intervalMs },
      }),
    });
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    await reader.read();
    await use(node, readAll(reader));
  } finally {
    await engine.stop();
    await Deno.remove(home, { recursive: true });
  }
}

/** The rest of a text; what came before it broke, when it breaks. */
async function readAll(reader: ReadableStreamDefaultReader<string>): Promise<string> {
  let text = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return text;
      text += value;
    }
  } catch {
    return text;
  }
}

Deno.test("C071: after CONT and TERM a running stream ends whole, and the node exits with 0", async () => {
  await whileStreaming(async (node, rest) => {
    node.program.signal("SIGCONT");
    node.program.signal("SIGTERM");
    match(await within(deadlineMs, rest), /t59.*\[DONE\]\s*$/s);
    equal((await within(deadlineMs, node.program.ended)).code, 0);
  });
});

Deno.test("C071: a second signal ends the node at once, whatever runs", async () => {
  await whileStreaming(async (node, rest) => {
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
