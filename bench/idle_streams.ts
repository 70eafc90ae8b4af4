// Do 1,500 quiet streams stay alive through one head and one worker, and do requests work beside and after them?
import type { ClosedLoopResult, EventStreamsResult } from "./load/job.ts";
import { chatUrl, startMesh } from "./rig/mesh.ts";
import type { BenchOptions } from "./rig/options.ts";
import { startEngine, startLoad } from "./rig/processes.ts";
import type { Report } from "./rig/report.ts";
import { runJob } from "./rig/targets.ts";

const intervalMs = 1_000;

/** Opens the streams, an event a second each, and asks for chats meanwhile and afterwards. */
export async function benchIdleStreams(options: BenchOptions, report: Report): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const load = await startLoad(stack);
  const besides = await startLoad(stack);
  const connections = options.isSmall ? 300 : 1_500;
  const eventCount = Math.ceil(options.seconds ?? (options.isSmall ? 5 : 60));
  const engine = await startEngine(stack, { eventCount, intervalMs });
  const mesh = await startMesh(stack, engine.url, options.exe);
  const url = chatUrl(mesh.head.url);
  const openMs = eventCount * intervalMs;
  const chat = (measuredMs: number) =>
    runJob<ClosedLoopResult>(besides, {
      kind: "closed_loop",
      url,
      connections: 4,
      warmUpMs: 0,
      measuredMs,
    });

  const open = runJob<EventStreamsResult>(load, {
    kind: "event_streams",
    url,
    connections,
    eventCount,
    intervalMs,
    streamsPerConnection: 1,
  });
  // The last stream opens when the first is about to end; the load is gentle, to see failures and not a limit.
  const meanwhile = await chat(openMs);
  const streams = await open;
  const afterwards = await chat(1_000);
  report.row({
    streams: streams.streams,
    first_p99_ms: streams.first_p99_ms,
    gap_p99_ms: streams.gap_p99_ms,
    lost: streams.lost,
    failed: streams.failed,
    chat_rps: meanwhile.rps,
    chat_p99_ms: meanwhile.p99_ms,
    chat_after_rps: afterwards.rps,
  });
  report.judge("streams failed", streams.failed, "=", 0);
  report.judge("events lost", streams.lost, "=", 0);
  report.judge("chats failed meanwhile", meanwhile.failed, "=", 0);
  report.judge("chats failed afterwards", afterwards.failed, "=", 0);
  report.judge("chats answered afterwards", afterwards.rps, ">=", 1);
}
