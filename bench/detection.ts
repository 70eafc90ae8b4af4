// How soon does a mesh notice a worker that was killed, or is frozen?
import { eventually } from "../tests/support/eventually.ts";
import type { EngineOptions } from "../tests/support/engine_options.ts";
import type { NodeProcess } from "../tests/support/node_process.ts";
import { type ProcessMesh, serviceArgs, startProcessMesh } from "../tests/support/process_mesh.ts";
import { tableAt } from "../tests/support/table_at.ts";
import { percentile } from "./load/percentile.ts";
import type { BenchOptions } from "./rig/options.ts";
import { Arrivals } from "./rig/arrivals.ts";
import type { Report } from "./rig/report.ts";

const perS = 20;
const lookMs = 25;
/** Between a look at the table and the next; the load and twenty processes share this machine. */
const killedWatchMs = 3_000;
const frozenWatchMs = 20_000;
const backAfterMsMax = 15_000;
const restMs = 2_000;
const engine: EngineOptions = { kind: "vllm", models: ["m"], firstMs: 5, intervalMs: 5 };

/** What one accident showed; milliseconds after it, `NaN` when it was not seen. */
type Accident = { readonly lastRequestMs: number; readonly leftMs: number };

/** Kills and freezes workers one after the other while requests come in. */
export async function benchDetection(options: BenchOptions, report: Report): Promise<void> {
  const workerCount = options.isSmall ? 4 : 19;
  const repetitions = options.rounds ?? (options.isSmall ? 2 : 20);
  await using mesh = await startProcessMesh(Array(workerCount).fill(engine), {
    headArgs: ["--log-requests", "all"],
  });
  const nodes = mesh.workers.map(({ node }) => node);
  using arrivals = new Arrivals(mesh.head, perS);
  const killed: Accident[] = [];
  for (let repetition = 0; repetition < repetitions; repetition++) {
    const index = repetition % workerCount;
    killed.push(await accident(mesh, nodes[index], arrivals, "SIGKILL", killedWatchMs));
    nodes[index] = await restarted(mesh, index);
    await untilAlive(mesh, nodes[index]);
  }
  const frozen: Accident[] = [];
  for (let repetition = 0; repetition < repetitions; repetition++) {
    const node = nodes[repetition % workerCount];
    frozen.push(await accident(mesh, node, arrivals, "SIGSTOP", frozenWatchMs));
    node.program.signal("SIGCONT");
    await untilAlive(mesh, node);
  }
  const killedLast = killed.map(({ lastRequestMs }) => lastRequestMs);
  const frozenLast = frozen.map(({ lastRequestMs }) => lastRequestMs);
  const frozenLeft = frozen.map(({ leftMs }) => leftMs);
  const killedLeft = killed.map(({ leftMs }) => leftMs);
  row(report, "killed: last request", killedLast);
  row(report, "killed: left", killedLeft);
  row(report, "frozen: last request", frozenLast);
  row(report, "frozen: left", frozenLeft);
  const slackMs = options.isSmall ? 1_000 : 0; // A small run shares the machine with tests.
  report.judge("failed requests", arrivals.failedCount, "=", 0);
  report.judge("killed: last request ms", Math.max(...killedLast), "<=", 500 + slackMs);
  report.judge("frozen: last request ms", Math.max(...frozenLast), "<=", 3_000 + slackMs);
  report.judge("frozen: left min ms", Math.min(...frozenLeft), ">=", 8_000);
  report.judge("frozen: left p50 ms", percentile(frozenLeft, 0.5), "<=", 10_000 + slackMs);
  report.judge("frozen: left max ms", Math.max(...frozenLeft), "<=", 14_000 + slackMs);
}

async function accident(
  mesh: ProcessMesh,
  node: NodeProcess,
  arrivals: Arrivals,
  signal: "SIGKILL" | "SIGSTOP",
  watchMs: number,
): Promise<Accident> {
  const startMs = performance.now();
  node.program.signal(signal);
  let leftMs = NaN;
  while (Number.isNaN(leftMs) && performance.now() - startMs < watchMs) {
    const row = (await tableAt(mesh.head))[`/${node.peerId}`];
    if (row?.status === "left") leftMs = performance.now() - startMs;
    else await new Promise((resolve) => setTimeout(resolve, lookMs));
  }
  // Requests that met it are told when they have been answered by another.
  await arrivals.settled();
  return { lastRequestMs: arrivals.lastRetriedSince(startMs) - startMs, leftMs };
}

async function restarted(mesh: ProcessMesh, index: number): Promise<NodeProcess> {
  const args = [...mesh.join, ...serviceArgs(mesh.workers[index].engine)];
  return await mesh.startNode(`worker-${index}`, args);
}

/**
 * Waits until a node offers its service again, and for a while more: a restarted one is listed with what it said in
 * its last life until it has joined, and who is frozen while it joins loses its connections at once.
 */
async function untilAlive(mesh: ProcessMesh, node: NodeProcess): Promise<void> {
  for (const place of [node, mesh.head]) {
    await eventually(async () => {
      const row = (await tableAt(place))[`/${node.peerId}`];
      return row?.status === "alive" && row.service.length > 0;
    }, backAfterMsMax);
  }
  await new Promise((resolve) => setTimeout(resolve, restMs));
}

function row(report: Report, what: string, ms: readonly number[]): void {
  report.row({
    what,
    repetitions: ms.length,
    min_ms: Math.min(...ms),
    p50_ms: percentile(ms, 0.5),
    max_ms: Math.max(...ms),
  });
}
