// Does one client that reads at 1 KB/s slow down fifty that read as fast as they can?
import type { BulkResult, ClosedLoopResult } from "./load/job.ts";
import { memoryPeaks } from "./rig/memory_peak.ts";
import { memoryMb } from "./rig/memory.ts";
import { chatUrl, startMesh } from "./rig/mesh.ts";
import type { BenchOptions } from "./rig/options.ts";
import { startBulkEngine, startLoad } from "./rig/processes.ts";
import type { Report } from "./rig/report.ts";
import { Rounds } from "./rig/rounds.ts";
import { runJob } from "./rig/targets.ts";

const normalReaders = 50;
const bodyBytes = 1e9;
const bytesPerS = 1_000;
const warmUpMs = 500;
const extraMbMax = 100;

/** The fifty without the slow reader, or beside it. */
type SlowResult = ClosedLoopResult & {
  /** What the slow reader has got; 0 when there is none. */
  readonly slow_mb: number;
  readonly slow_failed: number;
};

/** Measures both in turn, several times, and judges the middle of the ratios. */
export async function benchSlow(options: BenchOptions, report: Report): Promise<void> {
  const measuredMs = (options.seconds ?? (options.isSmall ? 1 : 5)) * 1000;
  const roundCount = options.rounds ?? (options.isSmall ? 2 : 7);
  await using stack = new AsyncDisposableStack();
  const [normal, slow] = [await startLoad(stack), await startLoad(stack)];
  const engine = await startBulkEngine(stack);
  const { head, worker } = await startMesh(stack, engine.url, options.exe);
  const ask = () =>
    runJob<ClosedLoopResult>(normal, {
      kind: "closed_loop",
      url: chatUrl(head.url),
      connections: normalReaders,
      warmUpMs,
      measuredMs,
    });
  const read = () =>
    runJob<BulkResult>(slow, {
      kind: "bulk",
      url: `${head.url}/v1/service/llm/give/${bodyBytes}`,
      direction: "down",
      bytes: bodyBytes,
      bytesPerS,
      stopAfterMs: warmUpMs + measuredMs,
      mayStop: true,
    });
  const measure = async (target: string): Promise<SlowResult> => {
    if (target === "without") return { ...await ask(), slow_mb: 0, slow_failed: 0 };
    const [result, slowly] = await Promise.all([ask(), read()]);
    const isServed = slowly.failed === 0 && slowly.mb > 0;
    return { ...result, slow_mb: slowly.mb, slow_failed: isServed ? 0 : 1 };
  };
  // The compiler and the heap have seen both before anything counts.
  for (const target of ["without", "with"]) await measure(target);
  const before = [await memoryMb(head.pid), await memoryMb(worker.pid)];
  const { result: rounds, peaksMb } = await memoryPeaks(
    [head.pid, worker.pid],
    () => Rounds.measure(["without", "with"], [normalReaders], roundCount, measure),
  );
  for (const target of rounds.targets) {
    const middle = (key: keyof SlowResult) => rounds.median(target, normalReaders, key);
    report.row({
      target,
      c: normalReaders,
      rps: middle("rps"),
      p50_ms: middle("p50_ms"),
      p99_ms: middle("p99_ms"),
      slow_mb: middle("slow_mb"),
    });
    report.judge(`${target} failed`, rounds.sum(target, normalReaders, "failed"), "=", 0);
  }
  report.judge("slow reader failed", rounds.sum("with", normalReaders, "slow_failed"), "=", 0);
  const ratio = rounds.compare("with", "without", normalReaders, (a, b) => a.p99_ms / b.p99_ms);
  report.judge("p99 with/without", ratio, "<=", options.isSmall ? 3 : 1.2);
  const [headExtraMb, workerExtraMb] = peaksMb.map((peak, at) => peak - before[at]);
  report.judge("head extra_mb", headExtraMb, "<=", extraMbMax);
  report.judge("worker extra_mb", workerExtraMb, "<=", extraMbMax);
}
