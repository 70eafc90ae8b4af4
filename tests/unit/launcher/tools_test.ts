import { deepEqual } from "node:assert/strict";
import { findTools } from "../../../lib/launcher/tools.ts";

Deno.test("findTools takes the first folder of the PATH that has the tool, as an absolute path", () => {
  const files = new Set(["/opt/slurm/bin/squeue", "/usr/bin/squeue", "/usr/bin/nvidia-smi"]);
  const tools = findTools("/opt/slurm/bin/:/usr/bin", (file) => files.has(file));
  deepEqual(tools, { "nvidia-smi": "/usr/bin/nvidia-smi", squeue: "/opt/slurm/bin/squeue" });
});

Deno.test("findTools does not look in relative parts of the PATH, which follow the working directory", () => {
  deepEqual(findTools("bin:.::", () => true), {});
  deepEqual(findTools("", () => true), {});
});
