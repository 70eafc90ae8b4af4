// Are tools run within their bounds, and without our environment?
import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { join } from "node:path";
import { machineFacts } from "../../lib/platform/machine.ts";
import { queryGpus } from "../../lib/platform/nvidia_smi_run.ts";
import { runTool } from "../../lib/platform/tool_run.ts";

/** Runs a body with an executable of this text in a folder of its own. */
async function withTool(script: string, body: (path: string) => Promise<void>): Promise<void> {
  const directory = await Deno.makeTempDir();
  const path = join(directory, "tool");
  await Deno.writeTextFile(path, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  try {
    await body(path);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

Deno.test("runTool gives a tool nothing of our environment", async () => {
  Deno.env.set("OTELA_TEST_SECRET", "hidden");
  await withTool("env; exit 3", async (path) => {
    const { exitCode, stdout } = await runTool(path, []);
    equal(exitCode, 3);
    ok(stdout.includes("LC_ALL=C"));
    ok(!stdout.includes("hidden"));
  });
  Deno.env.delete("OTELA_TEST_SECRET");
});

Deno.test("runTool ends a tool that hangs, and one that talks without end", async () => {
  await withTool("exec sleep 60", async (path) => {
    const limits = { timeoutMs: 100, outputBytesMax: 100 };
    await rejects(runTool(path, [], limits), { code: "timed_out" });
  });
  await withTool("exec yes", async (path) => {
    const limits = { timeoutMs: 5_000, outputBytesMax: 100_000 };
    await rejects(runTool(path, [], limits), { code: "state_unusable" });
  });
  await rejects(runTool("/nonexistent/tool", []), { code: "state_unusable" });
});

Deno.test("queryGpus reads the tool's table, and lives with its absence and its hanging", async () => {
  deepEqual(await queryGpus(undefined), { status: "no_tool" });
  const table = 'printf "index, name, memory.total [MiB]\\n0, NVIDIA X, 16\\n"';
  await withTool(table, async (path) => {
    const report = await queryGpus(path);
    deepEqual(report.status === "ok" && report.gpus.map((gpu) => gpu.name), ["NVIDIA X"]);
  });
  const slice = "  MIG 1g.10gb     Device  0: (UUID: MIG-1)";
  const list = `printf "GPU 0: NVIDIA X (UUID: GPU-1)\\n${slice}\\n"`;
  await withTool(`if [ "$1" = -L ]; then ${list}; else ${table}; fi`, async (path) => {
    const report = await queryGpus(path);
    deepEqual(report.status === "ok" && report.gpus.map((gpu) => gpu.name), [
      "NVIDIA X MIG 1g.10gb",
    ]);
  });
  await withTool("exec sleep 60", async (path) => {
    const report = await queryGpus(path, { timeoutMs: 100, outputBytesMax: 100 });
    equal(report.status, "driver_error");
  });
});

Deno.test("machineFacts knows processors and memory", () => {
  const { cpuCount, memoryMiB } = machineFacts();
  ok(cpuCount >= 1 && memoryMiB > 100);
});
