import { deepEqual, equal } from "node:assert/strict";
import { silentLog } from "../../../lib/base/ports.ts";
import { type AccessRecord, createAccessLog } from "../../../lib/gateway/access_log.ts";
import { watchClient } from "../../../lib/gateway/client_gone.ts";

const record: AccessRecord = {
  requestId: "r1",
  method: "GET",
  path: `/${"x".repeat(600)}`,
  status: 200,
  service: "llm",
  worker: "AAAAAAAB",
  attempts: 1,
  durationMs: 12.3456,
  firstByteMs: -1,
  continuations: 0,
  isUsageEstimated: false,
  bodyBytes: 270,
  outcome: "ok",
  code: "",
};

Deno.test("createAccessLog writes one bounded record of each request that it is to write", () => {
  const written: [string, Record<string, unknown>][] = [];
  const log = {
    ...silentLog,
    info: (event: string, fields = {}) => void written.push([event, fields]),
  };
  createAccessLog(log, "none").write({ ...record, outcome: "worker_failed" });
  createAccessLog(log, "failed").write(record);
  createAccessLog(log, "failed").write({ ...record, outcome: "client_gone" });
  equal(written.length, 0);
  createAccessLog(log, "failed").write({ ...record, outcome: "worker_failed" });
  equal(written.pop()?.[1].outcome, "worker_failed");
  createAccessLog(log, "all").write(record);
  const [[event, fields]] = written;
  equal(event, "request.done");
  equal((fields.path as string).length, 513);
  deepEqual([fields.durationMs, fields.firstByteMs, fields.outcome], [12.3, -1, "ok"]);
});

Deno.test("watchClient calls once while the handler works, and never after it answered", () => {
  const calls: string[] = [];
  const early = new AbortController();
  const earlyWatch = watchClient(early.signal, () => calls.push("early"));
  early.abort();
  deepEqual([earlyWatch.isGone, calls], [true, ["early"]]);
  const late = new AbortController();
  const lateWatch = watchClient(late.signal, () => calls.push("late"));
  lateWatch.answered();
  late.abort();
  deepEqual([lateWatch.isGone, calls], [false, ["early"]]);
});

Deno.test("watchClient calls also when the client had left before, but never inside the call", async () => {
  const gone = Promise.withResolvers<void>();
  let isWatching = false;
  const watch = watchClient(AbortSignal.abort(), () => {
    equal(isWatching, true);
    gone.resolve();
  });
  isWatching = true;
  await gone.promise;
  equal(watch.isGone, true);
});
