// Does a request fail when workers, or one of two heads, are killed all the time?
import { startNode } from "../tests/support/node_process.ts";
import { type ProcessMesh, serviceArgs, startProcessMesh } from "../tests/support/process_mesh.ts";
import type { EngineOptions } from "../tests/support/engine_options.ts";
import { type ChatOutcome, checkedChat, openLoop } from "./load/open_loop.ts";
import type { BenchOptions } from "./rig/options.ts";
import type { Report } from "./rig/report.ts";
import { benchKillLlama } from "./kill_llama.ts";
import { percentile } from "./load/percentile.ts";

const workerCount = 6;
const perS = 50;
/** Between two kills. */
const killEveryMs = 5_000;
const words = 24;
/** A stream of 24 tokens takes about half a second, so that a kill meets a dozen of them. */
const engine: EngineOptions = { kind: "vllm", models: ["m"], firstMs: 60, intervalMs: 20 };
const deadlineMs = 30_000;

/** Workers die and return under load; then one of two heads does. */
export async function benchKill(options: BenchOptions, report: Report): Promise<void> {
  if (options.llama) return await benchKillLlama(options.llama, report);
  const count = options.isSmall ? 500 : options.seconds ? options.seconds * perS : 10_000;
  {
    await using mesh = await startProcessMesh(Array(workerCount).fill(engine));
    const startMs = performance.now();
    const killer = new WorkerKiller(mesh);
    const outcomes = await openLoop(
      { count, perS },
      (index) =>
        checkedChat(
          mesh.head.http,
          index,
          { words, isStream: index % 2 === 0, deadlineMs },
          startMs,
        ),
    );
    await killer.stop();
    judge("workers killed", outcomes, killer.killCount, report);
    const continued = await metric(mesh.head.http, "otela_stream_continuations_total");
    report.row({ part: "streams continued", continued });
  }
  await benchHeads(count, report);
}

async function benchHeads(count: number, report: Report): Promise<void> {
  await using mesh = await startProcessMesh([engine, engine, engine]);
  const second = await startSecondHead(mesh);
  const startMs = performance.now();
  const heads = [mesh.head.http, second.http];
  const half = setTimeout(() => mesh.head.program.signal("SIGKILL"), count / perS * 500);
  const outcomes = await openLoop({ count, perS }, async (index) => {
    const ask = { words, isStream: index % 2 === 0, deadlineMs };
    const first = await checkedChat(heads[index % 2], index, ask, startMs);
    // A client retries once, and then against the other head.
    return first.result === "ok"
      ? first
      : await checkedChat(heads[1 - index % 2], index, ask, startMs);
  });
  clearTimeout(half);
  judge("a head killed", outcomes, 1, report);
}

async function startSecondHead(mesh: ProcessMesh) {
  const head = await mesh.startNode("second-head", [...mesh.join, "--role", "head"]);
  const deadline = performance.now() + 20_000;
  while (performance.now() < deadline) {
    const listed = await (await fetch(`${head.http}/v1/models`)).json();
    if (listed.data[0]?.otela.peers.length === mesh.workers.length) return head;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("The second head does not see all workers");
}

/** Kills one worker after the other and starts it again in the same folder. */
class WorkerKiller {
  killCount = 0;
  private readonly timer: ReturnType<typeof setInterval>;
  private readonly nodes: Promise<
    { kill(): Promise<void>; [Symbol.asyncDispose](): Promise<void> }
  >[];

  constructor(private readonly mesh: ProcessMesh) {
    this.nodes = mesh.workers.map(({ node }) => Promise.resolve(node));
    this.timer = setInterval(() => this.killNext(), killEveryMs);
  }

  async stop(): Promise<void> {
    clearInterval(this.timer);
    for (const node of await Promise.all(this.nodes)) await node[Symbol.asyncDispose]();
  }

  private killNext(): void {
    const index = this.killCount++ % this.nodes.length;
    const { mesh } = this;
    this.nodes[index] = this.nodes[index].then(async (node) => {
      await node.kill();
      const args = [...mesh.join, ...serviceArgs(mesh.workers[index].engine)];
      return await startNode({ home: `${mesh.home}/worker-${index}`, args });
    });
  }
}

function judge(
  part: string,
  outcomes: readonly ChatOutcome[],
  killCount: number,
  report: Report,
): void {
  const countOf = (result: ChatOutcome["result"]) =>
    outcomes.filter((outcome) => outcome.result === result).length;
  const times = outcomes.map(({ ms }) => ms);
  report.row({
    part,
    requests: outcomes.length,
    kills: killCount,
    failed: countOf("failed"),
    truncated: countOf("truncated"),
    wrong: countOf("wrong"),
    p50_ms: percentile(times, 0.5),
    p99_ms: percentile(times, 0.99),
    max_ms: Math.max(...times),
  });
  for (
    const { result, why, atMs } of outcomes.filter(({ result }) => result !== "ok").slice(0, 5)
  ) {
    report.note(`${part}: ${result} at ${Math.round(atMs)} ms: ${why}`);
  }
  for (const result of ["failed", "truncated", "wrong"] as const) {
    report.judge(`${part}: ${result}`, countOf(result), "=", 0);
  }
}

async function metric(headUrl: string, name: string): Promise<number> {
  const text = await (await fetch(`${headUrl}/metrics`)).text();
  return text.split("\n").filter((line) =>
    line.startsWith(`${name}{`) && line.includes("continued")
  )
    .reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
}
