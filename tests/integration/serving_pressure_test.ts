// What does a body of 1 GB that is read slowly cost the nodes, and the other requests on its lane?
import { equal, ok } from "node:assert/strict";
import { extraMbMax, measureSlowReader, startSlowReader } from "../../bench/slow_reader.ts";

/** Long enough for a gigabyte that is not held back: loopback carries 50 MB in it, and more. */
const measuredMs = 1_500;
/** What sockets, windows and streams on the way hold, and a guess of 2 s more for a busy machine. */
const carriedMbMax = 30;

Deno.test("a body of 1 GB that is read or taken slowly is held back at its source, and delays nobody", async (test) => {
  await using stack = new AsyncDisposableStack();
  const targets = await startSlowReader(stack, undefined);
  for (const direction of ["down", "up"] as const) {
    await test.step(direction === "down" ? "a slow reader" : "a slow engine", async () => {
      const { bulk, alone, beside, headExtraMb, workerExtraMb } = await measureSlowReader(
        targets,
        direction,
        measuredMs,
      );
      equal(bulk.failed, 0);
      ok(bulk.mb > 0 && bulk.mb < carriedMbMax, `${bulk.mb} MB were carried`);
      ok(headExtraMb < extraMbMax, `the head took ${headExtraMb} MB`);
      ok(workerExtraMb < extraMbMax, `the worker took ${workerExtraMb} MB`);
      equal(alone.failed + beside.failed, 0);
      // Behind the body they would wait until its client goes; a few ms are for `bench slow_reader` to see.
      ok(beside.p50_ms < alone.p50_ms + 100, `a chat took ${beside.p50_ms} ms`);
    });
  }
});
