// Does a body of 1 GB, carried as fast as it goes, delay the next token of streams on its lane?
import type { BulkResult, EventStreamsResult } from "./load/job.ts";
import { median } from "./rig/median.ts";
import type { BenchOptions } from "./rig/options.ts";
import { startBulkEngine, startLoad, startPlainProxy, tokenStream } from "./rig/processes.ts";
import { chatUrl, startMesh } from "./rig/mesh.ts";
import type { Report } from "./rig/report.ts";
import { runJob } from "./rig/targets.ts";

const bytes = 1e9;
const stopAfterMs = 60_000;

/** Streams alone and beside the body: through the mesh, and through a plain proxy, which has a connection for each. */
export async function benchFairness(options: BenchOptions, report: Report): Promise<void> {
  const roundCount = options.rounds ?? (options.isSmall ? 1 : 3);
  const connections = 50;
  await using stack = new AsyncDisposableStack();
  const [load, streams] = [await startLoad(stack), await startLoad(stack)];
  const engine = await startBulkEngine(stack);
  const plain = await startPlainProxy(stack, engine.url);
  const mesh = await startMesh(stack, engine.url, options.exe);
  const targets = [
    { name: "plain", chat: `${plain.url}/v1/chat/completions`, give: `${plain.url}/give/${bytes}` },
    {
      name: "mesh",
      chat: chatUrl(mesh.head.url),
      give: `${mesh.head.url}/v1/service/llm/give/${bytes}`,
    },
  ];
  const follow = (url: string) =>
    runJob<EventStreamsResult>(streams, {
      kind: "event_streams",
      url,
      connections,
      ...tokenStream,
      streamsPerConnection: 2,
    });
  for (const { name, chat, give } of targets) {
    await follow(chat);
    const rounds: { alone: EventStreamsResult; beside: EventStreamsResult; bulk: BulkResult }[] =
      [];
    for (let round = 0; round < roundCount; round++) {
      const alone = await follow(chat);
      const [beside, bulk] = await Promise.all([
        follow(chat),
        runJob<BulkResult>(load, {
          kind: "bulk",
          url: give,
          direction: "down",
          bytes,
          stopAfterMs,
        }),
      ]);
      rounds.push({ alone, beside, bulk });
    }
    const alone = median(rounds.map((round) => round.alone.gap_p99_ms));
    const beside = median(rounds.map((round) => round.beside.gap_p99_ms));
    const lost = rounds.reduce(
      (sum, { beside, bulk }) => sum + beside.lost + beside.failed + bulk.failed,
      0,
    );
    report.row({
      target: name,
      streams: connections,
      alone_gap_p99_ms: alone,
      beside_gap_p99_ms: beside,
      beside_first_p99_ms: median(rounds.map((round) => round.beside.first_p99_ms)),
      mb_per_s: median(rounds.map((round) => round.bulk.mb_per_s)),
      lost,
    });
    if (name !== "mesh") continue;
    report.judge("mesh lost", lost, "=", 0);
    report.judge("mesh gap_p99_ms beside 1 GB", beside, "<=", alone + (options.isSmall ? 60 : 20));
  }
}
