// How long does a small request take that comes at its own pace, whatever else goes on?
import { close, connect } from "./connection.ts";
import type { PacedJob, PacedResult } from "./job.ts";
import { chatBody, chatRequest, requestTarget } from "./request.ts";
import { ResponseReader } from "./response_reader.ts";
import type { Samples } from "./samples.ts";

/** An answer that is this late is a failure. */
const answerAfterMsMax = 10_000;

/**
 * Sends `perS` chats a second over one kept connection. A time counts from when the request was due, so that one
 * late answer also counts for those that had to wait behind it.
 */
export async function runPaced(job: PacedJob, samples: Samples): Promise<PacedResult> {
  samples.clear();
  const target = requestTarget(job.url);
  const request = chatRequest(target, chatBody);
  const count = Math.ceil(job.measuredMs / 1000 * job.perS);
  const connection = await connect(target);
  const watchdog = setTimeout(() => close(connection), job.measuredMs + answerAfterMsMax);
  let answered = 0;
  try {
    const reader = new ResponseReader();
    const startMs = performance.now();
    for (let i = 0; i < count; i++) {
      const dueMs = startMs + i * 1000 / job.perS;
      const waitMs = dueMs - performance.now();
      if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
      // A timer that fired late is our own fault and not the target's.
      const fromMs = waitMs > 0 ? performance.now() : dueMs;
      await ask(connection, request, reader);
      if (reader.status === 200) answered++;
      samples.add(performance.now() - fromMs);
    }
  } catch {
    // Those that were not answered have failed.
  }
  clearTimeout(watchdog);
  close(connection);
  const [p50, p99, longest] = samples.quantiles(0.5, 0.99, 1);
  return { p50_ms: p50, p99_ms: p99, max_ms: longest, answered, failed: count - answered };
}

async function ask(
  connection: Deno.TcpConn,
  request: Uint8Array,
  reader: ResponseReader,
): Promise<void> {
  connection.write(request).catch(() => {});
  while (true) {
    const count = await connection.read(reader.space());
    if (count === null) throw new Error("Connection closed before the answer was complete");
    if (reader.accept(count)) return;
  }
}
