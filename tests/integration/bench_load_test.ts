// Does the load of the benches count what happens, failures and lost events included?
import { equal, ok } from "node:assert/strict";
import { runClosedLoop } from "../../bench/load/closed_loop.ts";
import { runEventStreams } from "../../bench/load/event_streams.ts";
import { Samples } from "../../bench/load/samples.ts";
import { startEngine } from "../support/engine.ts";

const samples = () => new Samples(100_000);

Deno.test("runClosedLoop counts answers and their times", async () => {
  const engine = startEngine({ isBench: true });
  try {
    const url = `${engine.url}/v1/chat/completions`;
    const result = await runClosedLoop(
      { kind: "closed_loop", url, connections: 4, warmUpMs: 20, measuredMs: 100 },
      samples(),
    );
    equal(result.failed, 0);
    ok(result.rps > 100);
    ok(result.p50_ms > 0 && result.p50_ms <= result.p99_ms);
  } finally {
    await engine.stop();
  }
});

Deno.test("runClosedLoop counts refusals and a target that is not there as failed", async () => {
  await using server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    () => new Response("full", { status: 503 }),
  );
  const job = { kind: "closed_loop", connections: 1, warmUpMs: 0, measuredMs: 30 } as const;
  const refused = await runClosedLoop(
    { ...job, url: `http://127.0.0.1:${server.addr.port}/` },
    samples(),
  );
  ok(refused.failed > 0);
  equal(refused.rps, 0);
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  const missing = await runClosedLoop({ ...job, url: `http://127.0.0.1:${port}/` }, samples());
  ok(missing.failed > 0);
});

Deno.test("runEventStreams follows each stream to its end", async () => {
  const engine = startEngine({ isBench: true, tokens: 5, intervalMs: 2 });
  try {
    const result = await runEventStreams(
      {
        kind: "event_streams",
        url: `${engine.url}/v1/chat/completions`,
        connections: 3,
        eventCount: 5,
        intervalMs: 2,
        streamsPerConnection: 4,
      },
      samples(),
      samples(),
    );
    equal(result.streams, 12);
    equal(result.lost, 0);
    equal(result.failed, 0);
    ok(result.first_p99_ms > 0);
  } finally {
    await engine.stop();
  }
});

Deno.test("runEventStreams misses the events of a stream that ends early, however cleanly", async () => {
  await using server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    () =>
      new Response(
        new ReadableStream({
          start(controller) {
            controller.enqueue(new TextEncoder().encode("data: 1\n\ndata: 2\n\n"));
            controller.close();
          },
        }),
      ),
  );
  const result = await runEventStreams(
    {
      kind: "event_streams",
      url: `http://127.0.0.1:${server.addr.port}/`,
      connections: 1,
      eventCount: 5,
      intervalMs: 1,
      streamsPerConnection: 1,
    },
    samples(),
    samples(),
  );
  equal(result.failed, 0);
  equal(result.lost, 4); // Three events and the marker.
});
