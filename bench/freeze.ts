// How long does a client wait when a worker freezes?
import { startProcessMesh } from "../tests/support/process_mesh.ts";
import { checkedChat, openLoop } from "./load/open_loop.ts";
import { percentile } from "./load/percentile.ts";
import type { BenchOptions } from "./rig/options.ts";
import type { Report } from "./rig/report.ts";

const perS = 20;
/** Source: issue 6; the Go original lets requests hang for 128 s. */
const slowestMsMax = 8_000;

/** Stops one of three workers in the middle of a load of which half are streams. */
export async function benchFreeze(options: BenchOptions, report: Report): Promise<void> {
  const frozenMs = (options.seconds ?? (options.isSmall ? 6 : 60)) * 1_000;
  const engine = { kind: "vllm", models: ["m"], firstMs: 60, intervalMs: 20 } as const;
  await using mesh = await startProcessMesh([engine, engine, engine]);
  const { program } = mesh.workers[0].node;
  const startMs = performance.now();
  const timers = [
    setTimeout(() => program.signal("SIGSTOP"), 2_000),
    setTimeout(() => program.signal("SIGCONT"), 2_000 + frozenMs),
  ];
  const count = (frozenMs / 1_000 + 6) * perS;
  const outcomes = await openLoop({ count, perS }, (index) =>
    checkedChat(
      mesh.head.http,
      index,
      { words: 24, isStream: index % 2 === 0, deadlineMs: 150_000 },
      startMs,
    ));
  timers.forEach(clearTimeout);
  const times = outcomes.map(({ ms }) => ms);
  const bad = outcomes.filter(({ result }) => result !== "ok");
  report.row({
    requests: outcomes.length,
    frozen_s: frozenMs / 1_000,
    failed: bad.length,
    p50_ms: percentile(times, 0.5),
    p99_ms: percentile(times, 0.99),
    max_ms: Math.max(...times),
  });
  for (const { result, why } of bad.slice(0, 5)) report.note(`${result}: ${why}`);
  report.judge("failed", bad.length, "=", 0);
  report.judge("slowest ms", Math.max(...times), "<=", slowestMsMax);
}
