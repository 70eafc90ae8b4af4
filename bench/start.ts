// How soon is a node ready, and how much memory does an idle worker take?
import { median } from "./rig/median.ts";
import { startMesh } from "./rig/mesh.ts";
import type { BenchOptions } from "./rig/options.ts";
import { startEngine } from "./rig/processes.ts";
import type { Report } from "./rig/report.ts";
import { settledMemoryMb } from "./rig/memory.ts";

/** Starts a head and a worker some times, from nothing each time: a new key, no state. */
export async function benchStart(options: BenchOptions, report: Report): Promise<void> {
  const roundCount = options.rounds ?? (options.isSmall ? 2 : 5);
  const settleMs = (options.seconds ?? (options.isSmall ? 3 : 10)) * 1000;
  const slack = options.isSmall ? 3 : 1;
  const ready = { head: [] as number[], worker: [] as number[] };
  const memory = { head: 0, worker: 0 };
  await using engines = new AsyncDisposableStack();
  const engine = await startEngine(engines);
  for (let round = 0; round < roundCount; round++) {
    await using stack = new AsyncDisposableStack();
    const mesh = await startMesh(stack, engine.url, options.exe);
    ready.head.push(mesh.head.readyMs);
    ready.worker.push(mesh.worker.readyMs);
    if (round < roundCount - 1) continue;
    memory.head = await settledMemoryMb(mesh.head.pid, settleMs);
    memory.worker = await settledMemoryMb(mesh.worker.pid, settleMs);
  }
  for (const role of ["head", "worker"] as const) {
    const readyMs = median(ready[role]);
    report.row({ role, ready_ms: readyMs, rss_mb: memory[role] });
    report.judge(`${role} ready_s`, readyMs / 1000, "<=", 1.0 * slack);
  }
  report.judge("worker idle rss_mb", memory.worker, "<=", options.isSmall ? 225 : 150);
}
