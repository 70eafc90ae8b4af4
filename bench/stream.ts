// How soon and how evenly do streamed tokens arrive through the mesh, when hundreds of streams are open?
import type { EventStreamsResult } from "./load/job.ts";
import type { BenchOptions } from "./rig/options.ts";
import { tokenStream } from "./rig/processes.ts";
import type { Report } from "./rig/report.ts";
import { Rounds } from "./rig/rounds.ts";
import { runJob, startTargets, type Targets } from "./rig/targets.ts";

const { eventCount, intervalMs } = tokenStream;

/** Starts everything, measures and judges. */
export async function benchStream(options: BenchOptions, report: Report): Promise<void> {
  await using stack = new AsyncDisposableStack();
  await measureStream(await startTargets(stack, options), options, report);
}

/** Measures running targets and judges `mesh` by the others. */
export async function measureStream(
  { load, urls }: Targets,
  options: BenchOptions,
  report: Report,
): Promise<void> {
  const roundCount = options.rounds ?? (options.isSmall ? 1 : 3);
  const seconds = options.seconds ?? (options.isSmall ? 2.6 : 4);
  const streamsPerConnection = Math.max(1, Math.round(seconds * 1000 / (eventCount * intervalMs)));
  const levels = options.isSmall ? [200] : [200, 500, 1_000];
  const measure = (target: string, connections: number, streamsPerConnection: number) =>
    runJob<EventStreamsResult>(load, {
      kind: "event_streams",
      url: urls[target],
      connections,
      eventCount,
      intervalMs,
      streamsPerConnection,
    });
  const targets = Object.keys(urls);
  // The compiler has seen each target at full work before the first round counts.
  const [warmUpStreams, warmUpTimes] = options.isSmall ? [200, 1] : [500, 3];
  for (const target of targets) await measure(target, warmUpStreams, warmUpTimes);
  const rounds = await Rounds.measure(
    targets,
    levels,
    roundCount,
    (target, streams) => measure(target, streams, streamsPerConnection),
  );
  for (const target of targets) {
    for (const streams of levels) {
      report.row({
        target,
        streams,
        events_per_s: rounds.median(target, streams, "events_per_s"),
        first_p50_ms: rounds.median(target, streams, "first_p50_ms"),
        first_p99_ms: rounds.median(target, streams, "first_p99_ms"),
        gap_p99_ms: rounds.median(target, streams, "gap_p99_ms"),
        lost: rounds.sum(target, streams, "lost"),
        failed: rounds.sum(target, streams, "failed"),
      });
    }
  }
  judge(rounds, options.isSmall, report);
}

function judge(rounds: Rounds<EventStreamsResult>, isSmall: boolean, report: Report): void {
  // A small run shares the machine with tests and lasts a moment: it shows collapse, not a few milliseconds.
  const slack = isSmall ? 4 : 1;
  const first = (target: string, streams: number) => rounds.median(target, streams, "first_p99_ms");
  const gap = (target: string, streams: number) => rounds.median(target, streams, "gap_p99_ms");
  const judgeLoss = (streams: number) => {
    const lost = rounds.sum("mesh", streams, "lost") + rounds.sum("mesh", streams, "failed");
    report.judge(`mesh lost@${streams}`, lost, "=", 0);
  };

  report.judge(
    "mesh first_p99_ms@200",
    first("mesh", 200),
    "<=",
    slack * (3 * first("plain", 200) + 1),
  );
  const gapMsMax = gap("direct", 200) + 6 * slack;
  // On a machine that is busy otherwise, each hop waits for its turn: then the plain proxy is the measure.
  const gapBar = isSmall ? Math.max(gapMsMax, 3 * gap("plain", 200)) : gapMsMax;
  report.judge("mesh gap_p99_ms@200", gap("mesh", 200), "<=", gapBar);
  judgeLoss(200);
  if (isSmall) return;
  report.judge("mesh first_p99_ms@500", first("mesh", 500), "<=", 6 * first("plain", 500));
  report.judge("mesh gap_p99_ms@500", gap("mesh", 500), "<=", gap("direct", 500) + 15);
  judgeLoss(500);
  judgeLoss(1_000);
  if (!rounds.has("original", 500)) return;
  const below = (key: keyof EventStreamsResult) =>
    rounds.compare("mesh", "original", 500, (mesh, original) => mesh[key] / original[key]);
  report.judge("mesh/original first_p99@500", below("first_p99_ms"), "<", 1);
  report.judge("mesh/original gap_p99@500", below("gap_p99_ms"), "<", 1);
  const events = rounds.compare(
    "mesh",
    "original",
    1_000,
    (mesh, original) => mesh.events_per_s / original.events_per_s,
  );
  report.judge("mesh/original events_per_s@1000", events, ">=", 1.1);
}
