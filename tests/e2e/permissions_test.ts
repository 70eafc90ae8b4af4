import { deepEqual } from "node:assert/strict";
import { startEngine } from "../support/engine.ts";
import { startNode } from "../support/node_process.ts";
import { within } from "../support/within.ts";

const deadlineMs = 20_000;
const onLoopback = ["--host", "127.0.0.1", "--mesh.hosts", "127.0.0.1"];

/** Stands for NVIDIA's tool in its query mode. */
const nvidiaSmi = `#!/bin/sh
echo 'index, name, uuid, memory.total [MiB], memory.used [MiB], utilization.gpu [%], temperature.gpu'
echo '0, NVIDIA H200, GPU-1, 143771, 12, 0, 31'
`;

Deno.test("A node has what its configuration names: socket, bootstrap file, tool, a home behind a link", async () => {
  const root = await Deno.makeTempDir({ prefix: "otela-e2e-" });
  const engine = startEngine({ unixPath: `${root}/engine.sock`, models: ["tiny"] });
  try {
    for (const folder of ["real", "shared", "bin"]) await Deno.mkdir(`${root}/${folder}`);
    await Deno.symlink(`${root}/real`, `${root}/home`);
    await Deno.writeTextFile(`${root}/bin/nvidia-smi`, nvidiaSmi, { mode: 0o755 });
    const addresses = `${root}/shared/head.addr`;
    await using worker = await startNode({
      home: `${root}/home`,
      args: [
        ...["--bootstrap.source", `file:${addresses}`, "--service.name", "llm"],
        ...["--service.socket", `${root}/engine.sock`, ...onLoopback],
      ],
      env: {
        PATH: `${root}/bin:${Deno.env.get("PATH")}`,
        LD_LIBRARY_PATH: "/nowhere", // Every CUDA module sets it, and a scoped right to run is then refused.
      },
    });
    await Deno.mkdir(`${root}/head`);
    await using head = await startNode({
      home: `${root}/head`,
      args: ["--role", "head", "--bootstrap.write", addresses, ...onLoopback],
    });
    await within(deadlineMs, untilTrue(() => hasAnswer(head.http, "tiny")));
    await within(deadlineMs, untilTrue(() => hasGpu(head.http, worker.peerId)));
    const { bootstraps } = JSON.parse(await Deno.readTextFile(addresses));
    deepEqual(bootstraps, head.multiaddrs);
  } finally {
    await engine.stop();
    await Deno.remove(root, { recursive: true });
  }
});

async function hasAnswer(http: string, model: string): Promise<boolean> {
  const body = JSON.stringify({ model, messages: [{ role: "user", content: "hello" }] });
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${http}/v1/chat/completions`, { method: "POST", headers, body });
  await response.body?.cancel();
  return response.ok;
}

async function hasGpu(http: string, peerId: string): Promise<boolean> {
  const table = await (await fetch(`${http}/v1/dnt/table`)).json();
  return table[`/${peerId}`].hardware.gpus[0]?.name === "NVIDIA H200";
}

/** A mesh tells of its progress only to those who ask again. */
async function untilTrue(ask: () => Promise<boolean>): Promise<void> {
  while (!await ask()) await new Promise((resolve) => setTimeout(resolve, 50));
}
