// How soon and how evenly do the events of many streams arrive?
import { close, connect } from "./connection.ts";
import { EventCounter } from "./event_counter.ts";
import type { EventStreamsJob, EventStreamsResult } from "./job.ts";
import { chatRequest, type RequestTarget, requestTarget, streamBody } from "./request.ts";
import { ResponseReader } from "./response_reader.ts";
import type { Samples } from "./samples.ts";

/** A stream may take its nominal time and this much more; then it counts as failed. */
const lateMsMax = 20_000;

/**
 * Opens `connections` streams, their starts spread evenly over the length of one stream so that events are due at
 * all times, and follows each with the next on the same connection.
 * Time to first event counts from the request to the first event; a gap is the time between the arrivals of two
 * events of a stream, 0 when one read brought both.
 */
export async function runEventStreams(
  job: EventStreamsJob,
  first: Samples,
  gaps: Samples,
): Promise<EventStreamsResult> {
  first.clear();
  gaps.clear();
  const target = requestTarget(job.url);
  const streamMs = job.eventCount * job.intervalMs;
  const startMs = performance.now();
  const run: Run = {
    job,
    target,
    request: chatRequest(target, streamBody),
    first,
    gaps,
    allOpenFromMs: startMs + streamMs,
    allOpenToMs: startMs + streamMs * job.streamsPerConnection,
    eventsWhileAllOpen: 0,
    events: 0,
    failed: 0,
  };
  const lanes = Array.from(
    { length: job.connections },
    (_, i) => followStreams(run, streamMs * i / job.connections),
  );
  await Promise.all(lanes);
  const [firstP50, firstP99] = first.quantiles(0.5, 0.99);
  const windowMs = run.allOpenToMs - run.allOpenFromMs;
  const streams = job.connections * job.streamsPerConnection;
  return {
    events_per_s: windowMs > 0 ? run.eventsWhileAllOpen / (windowMs / 1000) : 0,
    first_p50_ms: firstP50,
    first_p99_ms: firstP99,
    gap_p99_ms: gaps.quantiles(0.99)[0],
    streams,
    // The marker that ends a stream is an event too.
    lost: streams * (job.eventCount + 1) - run.events,
    failed: run.failed,
  };
}

type Run = {
  readonly job: EventStreamsJob;
  readonly target: RequestTarget;
  readonly request: Uint8Array;
  readonly first: Samples;
  readonly gaps: Samples;
  readonly allOpenFromMs: number;
  readonly allOpenToMs: number;
  eventsWhileAllOpen: number;
  events: number;
  failed: number;
};

async function followStreams(run: Run, afterMs: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, afterMs));
  let connection: Deno.TcpConn | undefined;
  let left = run.job.streamsPerConnection;
  try {
    connection = await connect(run.target);
    for (; left > 0; left--) await followOne(connection, run);
  } catch {
    run.failed += left;
  } finally {
    if (connection) close(connection);
  }
}

/** One stream to its end. @throws {Error} When it breaks, is refused or takes too long. */
async function followOne(connection: Deno.TcpConn, run: Run): Promise<void> {
  const counter = new EventCounter();
  let lastMs = -1;
  const sentMs = performance.now();
  const reader = new ResponseReader((bytes, from, to) => {
    const count = counter.accept(bytes, from, to);
    if (count === 0) return;
    const nowMs = performance.now();
    if (lastMs < 0) run.first.add(nowMs - sentMs);
    else run.gaps.add(nowMs - lastMs);
    for (let i = 1; i < count; i++) run.gaps.add(0);
    lastMs = nowMs;
    run.events += count;
    if (nowMs >= run.allOpenFromMs && nowMs < run.allOpenToMs) run.eventsWhileAllOpen += count;
  });
  const watchdog = setTimeout(
    () => close(connection),
    run.job.eventCount * run.job.intervalMs + lateMsMax,
  );
  try {
    connection.write(run.request).catch(() => {});
    while (true) {
      const count = await connection.read(reader.space());
      if (count === null) throw new Error("Stream broke off");
      if (reader.accept(count)) break;
    }
    if (reader.status !== 200) throw new Error(`Stream refused with ${reader.status}`);
  } finally {
    clearTimeout(watchdog);
  }
}
