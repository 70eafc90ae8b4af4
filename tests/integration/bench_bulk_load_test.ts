// Does the load of the benches count large bodies and paced requests as they are?
import { equal, ok } from "node:assert/strict";
import { runBulk } from "../../bench/load/bulk.ts";
import { runPaced } from "../../bench/load/paced.ts";
import { Samples } from "../../bench/load/samples.ts";
import { startEngine } from "../support/engine.ts";

const bulk = { kind: "bulk", direction: "down", stopAfterMs: 5_000 } as const;

Deno.test("runBulk counts every byte, down and up", async () => {
  const engine = startEngine();
  try {
    const url = `${engine.url}/bytes?n=300000&length`;
    const down = await runBulk({ ...bulk, url, bytes: 300_000 });
    equal(down.failed, 0);
    equal(down.mb, 0.3);
    const up = await runBulk({
      ...bulk,
      url: `${engine.url}/echo`,
      direction: "up",
      bytes: 300_000,
    });
    equal(up.failed, 0);
    equal(up.mb, 0.3);
  } finally {
    await engine.stop();
  }
});

Deno.test("runBulk counts a body that ends early, is refused or has to be broken off as failed", async () => {
  const engine = startEngine();
  try {
    const short = await runBulk({ ...bulk, url: `${engine.url}/bytes?n=10&length`, bytes: 11 });
    equal(short.failed, 1);
    const refused = await runBulk({ ...bulk, url: `${engine.url}/status/503`, bytes: 1 });
    equal(refused.failed, 1);
    equal(refused.status, 503);
    const slow = { ...bulk, url: `${engine.url}/bytes?n=1000000&length`, bytes: 1e6 };
    const paced = { ...slow, bytesPerS: 100_000, stopAfterMs: 100 };
    const broken = await runBulk(paced);
    equal(broken.failed, 1);
    ok(broken.mb < 0.2, `${broken.mb} MB in 0.1 s at 0.1 MB/s`);
    equal((await runBulk({ ...paced, mayStop: true })).failed, 0);
  } finally {
    await engine.stop();
  }
});

Deno.test("runPaced sends so many requests a second and counts those without an answer", async () => {
  const engine = startEngine({ isBench: true });
  const url = `${engine.url}/v1/chat/completions`;
  const job = { kind: "paced", url, perS: 50, measuredMs: 100 } as const;
  let answered: number;
  try {
    const result = await runPaced(job, new Samples(1_000));
    answered = result.answered;
    equal(result.failed, 0);
    ok(result.p50_ms > 0 && result.p50_ms <= result.p99_ms && result.p99_ms <= result.max_ms);
  } finally {
    await engine.stop();
  }
  equal(answered, 5);
  await using closing = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    () => new Response("no", { status: 503 }),
  );
  const refused = `http://127.0.0.1:${closing.addr.port}/v1/chat/completions`;
  equal((await runPaced({ ...job, url: refused }, new Samples(1_000))).failed, 5);
});
