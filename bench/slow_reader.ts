// What does an exchange of 1 GB cost that is read at 1 MB/s: in memory at both nodes, and to the others of its lane?
import type { BulkResult, PacedResult } from "./load/job.ts";
import type { Child } from "./rig/child.ts";
import { memoryMb } from "./rig/memory.ts";
import { memoryPeaks } from "./rig/memory_peak.ts";
import { chatUrl, type Mesh, startMesh } from "./rig/mesh.ts";
import type { BenchOptions } from "./rig/options.ts";
import { startBulkEngine, startLoad } from "./rig/processes.ts";
import type { Report } from "./rig/report.ts";
import { runJob } from "./rig/targets.ts";

const bytes = 1e9;
const bytesPerS = 1e6;
const chatsPerS = 20;
/** Source: the promise of the issue, "both nodes under 100 MB extra". */
export const extraMbMax = 100;

/** What one direction showed. */
type SlowReaderResult = {
  readonly bulk: BulkResult;
  /** Small requests alone, and beside the body. */
  readonly alone: PacedResult;
  readonly beside: PacedResult;
  readonly headExtraMb: number;
  readonly workerExtraMb: number;
};

/** Running processes that take the load. */
type SlowReaderTargets = {
  readonly load: Child;
  readonly chats: Child;
  readonly mesh: Mesh;
};

/** Starts a mesh before an engine that gives and takes any number of bytes. */
async function startSlowReader(
  stack: AsyncDisposableStack,
  exe: string | undefined,
): Promise<SlowReaderTargets> {
  const [load, chats] = [await startLoad(stack), await startLoad(stack)];
  const engine = await startBulkEngine(stack);
  return { load, chats, mesh: await startMesh(stack, engine.url, exe) };
}

/**
 * Reads a response slowly (`down`), or lets the engine read a fast client's request slowly (`up`), and asks for
 * chats meanwhile. The client goes away after `measuredMs`.
 */
async function measureSlowReader(
  { load, chats, mesh: { head, worker } }: SlowReaderTargets,
  direction: "down" | "up",
  measuredMs: number,
): Promise<SlowReaderResult> {
  const service = `${head.url}/v1/service/llm`;
  const chat = (ms: number) =>
    runJob<PacedResult>(chats, {
      kind: "paced",
      url: chatUrl(head.url),
      perS: chatsPerS,
      measuredMs: ms,
    });
  const alone = await chat(measuredMs);
  const before = [await memoryMb(head.pid), await memoryMb(worker.pid)];
  const { result, peaksMb } = await memoryPeaks([head.pid, worker.pid], () =>
    Promise.all([
      runJob<BulkResult>(load, {
        kind: "bulk",
        url: service + (direction === "down" ? `/give/${bytes}` : `/take/${bytesPerS}`),
        direction,
        bytes,
        bytesPerS: direction === "down" ? bytesPerS : undefined,
        stopAfterMs: measuredMs,
        mayStop: true,
      }),
      chat(measuredMs),
    ]));
  const [bulk, beside] = result;
  const [headExtraMb, workerExtraMb] = peaksMb.map((peak, at) => peak - before[at]);
  return { bulk, alone, beside, headExtraMb, workerExtraMb };
}

/** Measures both directions and judges. */
export async function benchSlowReader(options: BenchOptions, report: Report): Promise<void> {
  const measuredMs = (options.seconds ?? (options.isSmall ? 5 : 20)) * 1000;
  await using stack = new AsyncDisposableStack();
  const targets = await startSlowReader(stack, options.exe);
  // The compiler and the heap have seen both before anything counts.
  for (const direction of ["down", "up"] as const) {
    await measureSlowReader(targets, direction, measuredMs / 5);
  }
  for (const direction of ["down", "up"] as const) {
    const result = await measureSlowReader(targets, direction, measuredMs);
    const { bulk, alone, beside, headExtraMb, workerExtraMb } = result;
    report.row({
      direction,
      mb: bulk.mb,
      head_extra_mb: headExtraMb,
      worker_extra_mb: workerExtraMb,
      alone_p50_ms: alone.p50_ms,
      alone_p99_ms: alone.p99_ms,
      beside_p50_ms: beside.p50_ms,
      beside_p99_ms: beside.p99_ms,
      beside_max_ms: beside.max_ms,
    });
    report.judge(`${direction} head extra_mb`, headExtraMb, "<=", extraMbMax);
    report.judge(`${direction} worker extra_mb`, workerExtraMb, "<=", extraMbMax);
    const failed = bulk.failed + alone.failed + beside.failed;
    report.judge(`${direction} failed`, failed, "=", 0);
    const slackMs = options.isSmall ? 20 : 5;
    report.judge(`${direction} chat p99_ms`, beside.p99_ms, "<=", alone.p99_ms + slackMs);
  }
}
