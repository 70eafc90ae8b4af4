// What does the mesh cost a request, beside no proxy, a plain proxy and the Go original?
import type { ClosedLoopResult } from "./load/job.ts";
import { chatUrl, startMesh } from "./rig/mesh.ts";
import type { BenchOptions } from "./rig/options.ts";
import type { Report } from "./rig/report.ts";
import { Rounds } from "./rig/rounds.ts";
import { runJob, startTargets, type Targets } from "./rig/targets.ts";

const concurrencies = [1, 16, 50, 200];
const warmUpMs = 300;

/** Starts everything, measures and judges. */
export async function benchProxy(options: BenchOptions, report: Report): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const targets = await startTargets(stack, options);
  if (options.exe === undefined) return await measureProxy(targets, options, report);
  const { head } = await startMesh(stack, targets.engineUrl, undefined);
  const urls = { ...targets.urls, source: chatUrl(head.url) };
  await measureProxy({ ...targets, urls }, options, report);
}

/** Measures running targets and judges `mesh` by the others. */
export async function measureProxy(
  { load, urls }: Pick<Targets, "load" | "urls">,
  options: BenchOptions,
  report: Report,
): Promise<void> {
  const roundCount = options.rounds ?? (options.isSmall ? 2 : 3);
  const measuredMs = (options.seconds ?? (options.isSmall ? 0.5 : 3)) * 1000;
  const measure = (target: string, connections: number, ms: number) =>
    runJob<ClosedLoopResult>(load, {
      kind: "closed_loop",
      url: urls[target],
      connections,
      warmUpMs,
      measuredMs: ms,
    });
  const targets = Object.keys(urls);
  // V8 goes on compiling for some 20,000 requests, on the cores that they need; a node runs for days.
  for (const target of targets) {
    await measure(target, 50, options.isSmall ? 700 : 4_000);
    if (!options.isSmall) await measure(target, 1, 4_000);
  }
  const rounds = await Rounds.measure(
    targets,
    concurrencies,
    roundCount,
    (target, connections) => measure(target, connections, measuredMs),
  );
  for (const target of targets) {
    for (const c of concurrencies) {
      report.row({
        target,
        c,
        rps: rounds.median(target, c, "rps"),
        p50_ms: rounds.median(target, c, "p50_ms"),
        p99_ms: rounds.median(target, c, "p99_ms"),
        failed: rounds.sum(target, c, "failed"),
      });
    }
  }
  judge(rounds, options.isSmall, report);
}

function judge(rounds: Rounds<ClosedLoopResult>, isSmall: boolean, report: Report): void {
  // A small run shares the machine with tests and lasts a moment: it shows collapse, not a few per cent. What is
  // in milliseconds is then measured by the plain proxy beside it, and a tail is its slowest few requests.
  const slack = isSmall ? 3 : 1;
  const tailSlack = isSmall ? 10 : 1;
  const speed = (other: string, c: number) =>
    rounds.compare("mesh", other, c, (mesh, theirs) => mesh.rps / theirs.rps);
  const addedMs = (target: string) =>
    rounds.compare(target, "direct", 1, (proxied, direct) => proxied.p50_ms - direct.p50_ms);

  const failed = concurrencies.reduce((sum, c) => sum + rounds.sum("mesh", c, "failed"), 0);
  report.judge("mesh failed", failed, "=", 0);
  if (rounds.has("source", 1)) {
    // An executable is held against the source; the other bars are the source's.
    for (const c of [16, 50, 200]) {
      report.judge(`exe/source@${c}`, speed("source", c), ">=", 0.9 / slack);
    }
    return;
  }
  for (const [c, bar] of [[16, 0.5], [50, 0.75], [200, 0.9]]) {
    report.judge(`mesh/plain@${c}`, speed("plain", c), ">=", bar / slack);
  }
  const addedMsMax = isSmall ? Math.max(0.4 * slack, 10 * addedMs("plain")) : 0.4;
  report.judge("mesh added p50_ms@1", addedMs("mesh"), "<=", addedMsMax);
  for (const c of [1, 16]) {
    const tail = rounds.compare("mesh", "plain", c, (mesh, plain) => mesh.p99_ms / plain.p99_ms);
    report.judge(`mesh/plain p99@${c}`, tail, "<=", 3 * tailSlack);
    // 40 ms is what Nagle's algorithm and delayed acknowledgements cost together.
    report.judge(`mesh p50_ms@${c}`, rounds.median("mesh", c, "p50_ms"), "<", 40);
  }
  if (!rounds.has("original", 1)) return;
  for (const [c, bar] of [[16, 1.5], [50, 1.8], [200, 2.1]]) {
    report.judge(`mesh/original@${c}`, speed("original", c), ">=", bar / slack);
  }
  report.judge("mesh/original added p50@1", addedMs("mesh") / addedMs("original"), "<", slack);
}
