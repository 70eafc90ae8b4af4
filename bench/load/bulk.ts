// How fast does one large body come, or go?
import { close, connect } from "./connection.ts";
import type { BulkJob, BulkResult } from "./job.ts";
import { anyWorker, requestTarget } from "./request.ts";
import { ResponseReader } from "./response_reader.ts";

const chunk = new Uint8Array(65_536);

/** Carries one body over one connection; breaks it off after `stopAfterMs`. Never throws. */
export async function runBulk(job: BulkJob): Promise<BulkResult> {
  const startMs = performance.now();
  const run: Run = { job, bytes: 0, status: 0, isComplete: false, isStopped: false };
  let connection: Deno.TcpConn | undefined;
  const timer = setTimeout(() => {
    run.isStopped = true;
    if (connection) close(connection);
  }, job.stopAfterMs);
  try {
    connection = await connect(requestTarget(job.url));
    await carry(connection, run);
  } catch {
    // What was not carried shows in the result.
  }
  clearTimeout(timer);
  if (connection) close(connection);
  const seconds = (performance.now() - startMs) / 1000;
  return {
    mb_per_s: run.bytes / 1e6 / seconds,
    mb: run.bytes / 1e6,
    seconds,
    status: run.status,
    failed: run.isComplete || (run.isStopped && job.mayStop) ? 0 : 1,
  };
}

type Run = {
  readonly job: BulkJob;
  bytes: number;
  status: number;
  isComplete: boolean;
  isStopped: boolean;
};

async function carry(connection: Deno.TcpConn, run: Run): Promise<void> {
  const { job } = run;
  const target = requestTarget(job.url);
  const isUpload = job.direction === "up";
  const head = `${isUpload ? "POST" : "GET"} ${target.path} HTTP/1.1\r\n` +
    `host: ${target.hostname}:${target.port}\r\n${anyWorker}` +
    (isUpload
      ? `content-type: application/octet-stream\r\ncontent-length: ${job.bytes}\r\n\r\n`
      : "\r\n");
  await writeAll(connection, new TextEncoder().encode(head));
  if (isUpload) await upload(connection, run);
  let bodyBytes = 0;
  const reader = new ResponseReader((_bytes, from, to) => bodyBytes += to - from);
  const startMs = performance.now();
  for (let isOver = false; !isOver;) {
    const count = await connection.read(reader.space().subarray(0, readBytesMax(job)));
    if (count === null) throw new Error("The answer broke off");
    isOver = reader.accept(count);
    run.status = reader.status;
    if (!isUpload) run.bytes = bodyBytes;
    if (!isUpload && !isOver) await pace(run, startMs);
  }
  run.isComplete = reader.status === 200 && run.bytes === job.bytes;
}

/** A slow reader takes little at a time, several times a second. */
function readBytesMax({ direction, bytesPerS }: BulkJob): number {
  const isSlow = direction === "down" && bytesPerS !== undefined;
  return isSlow ? Math.max(1, Math.ceil(bytesPerS / 10)) : chunk.length;
}

async function upload(connection: Deno.TcpConn, run: Run): Promise<void> {
  const startMs = performance.now();
  while (run.bytes < run.job.bytes) {
    const piece = chunk.subarray(0, Math.min(chunk.length, run.job.bytes - run.bytes));
    await writeAll(connection, piece);
    run.bytes += piece.length;
    await pace(run, startMs);
  }
}

async function pace(run: Run, startMs: number): Promise<void> {
  const { bytesPerS } = run.job;
  if (bytesPerS === undefined) return;
  const aheadMs = run.bytes / bytesPerS * 1000 - (performance.now() - startMs);
  if (aheadMs > 0) await new Promise((resolve) => setTimeout(resolve, aheadMs));
}

async function writeAll(connection: Deno.TcpConn, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await connection.write(bytes.subarray(at));
}
