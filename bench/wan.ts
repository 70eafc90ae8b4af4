// How fast is one exchange when head and worker are 80 ms apart?
import type { BulkResult } from "./load/job.ts";
import type { Child } from "./rig/child.ts";
import { median } from "./rig/median.ts";
import { startNodes } from "./rig/mesh.ts";
import type { BenchOptions } from "./rig/options.ts";
import { startBulkEngine, startLoad } from "./rig/processes.ts";
import type { Report } from "./rig/report.ts";
import { runJob } from "./rig/targets.ts";
import { farAddress, makeWideArea, nearAddress } from "./rig/wide_area.ts";

const oneWayMs = 40;
const stopAfterMs = 60_000;
const servedAfterMsMax = 10_000;
const askAgainAfterMs = 100;

/** A client beside the head, an engine beside the worker, and between them the delay; `direct` is the link itself. */
export async function benchWan(options: BenchOptions, report: Report): Promise<void> {
  const bytes = options.isSmall ? 50e6 : 200e6;
  const roundCount = options.rounds ?? (options.isSmall ? 1 : 3);
  await using stack = new AsyncDisposableStack();
  const area = await makeWideArea(stack, oneWayMs);
  const load = await startLoad(stack, area.near);
  const engine = await startBulkEngine(stack, area.far, "0.0.0.0");
  const mesh = await startNodes(stack, engine.url, options.exe, {
    head: area.near,
    worker: area.far,
    headAddress: `/ip4/${nearAddress}/`,
  });
  const service = `${mesh.head.url}/v1/service/llm`;
  const direct = `http://${farAddress}:${new URL(engine.url).port}`;
  await untilServed(load, service);
  for (const direction of ["down", "up"] as const) {
    const path = direction === "down" ? `/give/${bytes}` : "/take";
    const measure = (url: string) =>
      runJob<BulkResult>(load, { kind: "bulk", url: url + path, direction, bytes, stopAfterMs });
    const results: { direct: BulkResult[]; mesh: BulkResult[] } = { direct: [], mesh: [] };
    for (let round = 0; round < roundCount; round++) {
      results.direct.push(await measure(direct));
      results.mesh.push(await measure(service));
    }
    for (const target of ["direct", "mesh"] as const) {
      const speed = median(results[target].map((result) => result.mb_per_s));
      const failed = results[target].reduce((sum, result) => sum + result.failed, 0);
      report.row({ target, direction, mb: bytes / 1e6, mb_per_s: speed, failed });
      if (target === "direct") continue;
      report.judge(`mesh ${direction} mb_per_s`, speed, ">=", options.isSmall ? 10 : 20);
      report.judge(`mesh ${direction} failed`, failed, "=", 0);
    }
  }
}

/** The head serves once the worker's claim has arrived; we cannot ask it ourselves from outside. */
async function untilServed(load: Child, service: string): Promise<void> {
  const deadlineMs = performance.now() + servedAfterMsMax;
  while (performance.now() < deadlineMs) {
    const url = `${service}/give/1`;
    const job = { kind: "bulk", url, direction: "down", bytes: 1, stopAfterMs: 2_000 } as const;
    if ((await runJob<BulkResult>(load, job)).failed === 0) return;
    await new Promise((resolve) => setTimeout(resolve, askAgainAfterMs));
  }
  throw new Error(`The head does not know the worker after ${servedAfterMsMax} ms`);
}
