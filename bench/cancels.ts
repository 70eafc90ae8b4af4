// Does anything stay behind when ten thousand clients leave before their answers are whole?
import { seededRandom } from "../lib/sim/seeded_random.ts";
import type { NodeProcess } from "../tests/support/node_process.ts";
import { openLoop } from "./load/open_loop.ts";
import { percentile } from "./load/percentile.ts";
import { callHeader, waitingHeader, WatchedEngine } from "./load/watched_engine.ts";
import { startEngineNodes } from "./rig/engine_nodes.ts";
import { memoryMb } from "./rig/memory.ts";
import type { BenchOptions } from "./rig/options.ts";
import type { Report } from "./rig/report.ts";

/** How far a request has come when its client leaves. */
const phases = ["sending", "waiting", "streaming"] as const;
type Phase = typeof phases[number];

const workerCount = 2;
const perS = 100;
/** After its phase has begun a client stays for so long at most. Source: C034. */
const stayMsMax = 50;
/** A body longer than what a head reads before it sends, so that an engine has the first of it. */
const longBodyBytes = 2 * 1024 * 1024;
const sentBytes = 32 * 1024;
/** Source: issue 6. */
const closedMsMax = 1_000;
/** Between them the memory is looked at. The first two leave garbage and full pools, which are no leak. */
const batchCount = 5;
/**
 * A leak of 9 KB for each that left would pass it. Garbage alone scatters by 30 MB; of 24,000 that left the last
 * 14,400 cost a head 4 MB and a worker 2.
 */
const growthMbMax = 50;
const laterCount = 200;
/** So long engines and nodes have in the end to let go of everything. */
const settleMs = 5_000;

const encoder = new TextEncoder();

/** What became of the calls that engines got. */
class Calls {
  readonly leftMs = new Map<string, number>();
  /** From when the client left, or the engine was asked if that was later, until the engine heard of it. */
  readonly closingMs = new Map<string, number>();
  /** Calls that were over although their clients were there. */
  earlyCount = 0;
  readonly engines = Array.from({ length: workerCount }, () => {
    return new WatchedEngine((call, beganMs) => this.#closed(call, beganMs));
  });

  get openCount(): number {
    return this.engines.reduce((sum, { open }) => sum + open.size, 0);
  }

  #closed(call: string, beganMs: number): void {
    const nowMs = performance.now();
    const leftMs = this.leftMs.get(call) ?? beganMs;
    if (!this.leftMs.has(call)) this.earlyCount++;
    this.closingMs.set(call, nowMs - Math.max(leftMs, beganMs));
  }
}

/** Clients leave in every phase; then nothing may be open anywhere, and who comes later is served. */
export async function benchCancels(options: BenchOptions, report: Report): Promise<void> {
  const seconds = options.seconds ?? (options.isSmall ? 6 : 100);
  const count = Math.ceil(seconds * perS / batchCount) * batchCount;
  await using stack = new AsyncDisposableStack();
  const calls = new Calls();
  for (const engine of calls.engines) stack.use(engine);
  const nodes = await startEngineNodes(stack, calls.engines, { exe: options.exe });
  const all = [nodes.head, ...nodes.workers];
  const outcomes: Outcome[] = [];
  const memoryMbs: number[][] = [];
  for (let batch = 0; batch < batchCount; batch++) {
    outcomes.push(...await leaveAll(nodes.head.http, calls, outcomes.length, count / batchCount));
    const held = await Promise.all(all.map(({ program }) => memoryMb(program.pid)));
    memoryMbs.push(held);
    const [head_mb, worker_mb] = held;
    report.row({ phase: `all, ${outcomes.length}`, left: outcomes.length, head_mb, worker_mb });
  }
  const lastMs = performance.now();
  const openLeft = await untilZero(() => Promise.resolve(calls.openCount));
  const left = await untilZero(() => openOf(all));
  const settledMs = performance.now() - lastMs;
  const [first, second] = memoryMbs;
  const growthMb = memoryMbs.at(-1)!.map((mb, at) => mb - Math.max(first[at], second[at]));
  for (const phase of phases) {
    const ofPhase = outcomes.filter((outcome) => outcome.phase === phase);
    const times = ofPhase.map(({ call }) => calls.closingMs.get(call)).filter(isKnown);
    report.row({
      phase,
      left: ofPhase.length,
      reached_engine: times.length,
      closed_p50_ms: percentile(times, 0.5),
      closed_p99_ms: percentile(times, 0.99),
      closed_max_ms: percentile(times, 1),
    });
    // Else the bench would not have measured what it says.
    report.judge(`${phase}: reached an engine`, times.length, ">=", ofPhase.length / 2);
    const slowestMs = times.length > 0 ? percentile(times, 1) : NaN;
    report.judge(`${phase}: engine heard, max ms`, slowestMs, "<=", closedMsMax);
  }
  const early = calls.earlyCount + outcomes.filter(({ isAnswered }) => isAnswered).length;
  const failed = await askLater(nodes.head.http);
  report.row({ phase: "afterwards", left: outcomes.length, settled_ms: settledMs });
  report.judge("ended before their clients left", early, "=", 0);
  report.judge("calls that engines still hold", openLeft, "=", 0);
  report.judge("exchanges, calls and requests open", left, "=", 0);
  report.judge("memory of a node, MB more", Math.max(...growthMb), "<=", growthMbMax);
  report.judge(`of ${laterCount} later requests failed`, failed, "=", 0);
}

type Outcome = { readonly phase: Phase; readonly call: string; readonly isAnswered: boolean };

/** @param from Those that have left before. */
async function leaveAll(
  headUrl: string,
  calls: Calls,
  from: number,
  count: number,
): Promise<Outcome[]> {
  const random = seededRandom(from + 34);
  return await openLoop({ count, perS }, async (index) => {
    const phase = phases[index % phases.length];
    const call = `${from + index}`;
    const stayMs = random() * stayMsMax;
    const leave = phase === "sending" ? leaveSending : leaveAsked;
    const isAnswered = await leave(headUrl, call, phase, async () => {
      await new Promise((resolve) => setTimeout(resolve, stayMs));
      calls.leftMs.set(call, performance.now());
    });
    return { phase, call, isAnswered };
  });
}

/** Leaves in the middle of its own body. */
async function leaveSending(
  headUrl: string,
  call: string,
  _: Phase,
  stay: () => Promise<void>,
): Promise<boolean> {
  const { hostname, port } = new URL(headUrl);
  using connection = await Deno.connect({ hostname, port: Number(port) });
  const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: ${hostname}\r\n` +
    `content-type: application/json\r\ncontent-length: ${longBodyBytes}\r\n${callHeader}: ${call}\r\n\r\n`;
  const text = `${head}{"model":"m","stream":true,"messages":[{"role":"user","content":"`;
  const bytes = encoder.encode(text.padEnd(sentBytes, "x"));
  for (let at = 0; at < bytes.length;) at += await connection.write(bytes.subarray(at));
  await stay();
  return false;
}

/** Leaves before there is an answer, or in the middle of it. @returns Whether it ended before. */
async function leaveAsked(
  headUrl: string,
  call: string,
  phase: Phase,
  stay: () => Promise<void>,
): Promise<boolean> {
  const leaving = new AbortController();
  const asked = fetch(`${headUrl}/v1/chat/completions`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      [callHeader]: call,
      ...phase === "waiting" ? { [waitingHeader]: "1" } : {},
    },
    signal: leaving.signal,
    body: JSON.stringify({
      model: "m",
      stream: true,
      messages: [{ role: "user", content: "hello" }],
    }),
  });
  let isAnswered = false;
  const ended = (async () => {
    const response = await asked;
    if (phase === "streaming" && response.status === 200) {
      stay().then(() => leaving.abort());
      for await (const _ of response.body!);
    }
    isAnswered = true;
  })().catch(() => {});
  if (phase === "waiting") stay().then(() => leaving.abort());
  await ended;
  return isAnswered || !leaving.signal.aborted;
}

/** @returns The last count, which is 0 if it was so in time. */
async function untilZero(count: () => Promise<number>): Promise<number> {
  const deadlineMs = performance.now() + settleMs;
  for (;;) {
    const now = await count();
    if (now === 0 || performance.now() > deadlineMs) return now;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Everything that a request in flight holds, at all nodes together. */
const openMetrics =
  /^otela_(requests_in_flight|lane_exchanges_open|engine_calls_open|requests_waiting)\b.* (\S+)$/gm;

async function openOf(nodes: readonly NodeProcess[]): Promise<number> {
  let sum = 0;
  for (const { http } of nodes) {
    const text = await (await fetch(`${http}/metrics`)).text();
    const found = [...text.matchAll(openMetrics)];
    if (found.length === 0) throw new Error("A node does not say what it has open");
    for (const [, , value] of found) sum += Number(value);
  }
  return sum;
}

async function askLater(headUrl: string): Promise<number> {
  const answers = await openLoop({ count: laterCount, perS: 2 * perS }, async () => {
    try {
      const response = await fetch(`${headUrl}/v1/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        signal: AbortSignal.timeout(settleMs),
        body: JSON.stringify({ model: "m", messages: [{ role: "user", content: "hello" }] }),
      });
      return response.status === 200 && (await response.text()).includes("here");
    } catch {
      return false;
    }
  });
  return answers.filter((isOk) => !isOk).length;
}

function isKnown(value: number | undefined): value is number {
  return value !== undefined;
}
