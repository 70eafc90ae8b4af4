// Does a head that has been up for long hold more than one that has just become warm?
import { eventually } from "../tests/support/eventually.ts";
import { openLoop } from "./load/open_loop.ts";
import { Guests } from "./rig/guests.ts";
import { heapAfterGc, type HeapFigures } from "./rig/heap.ts";
import { type HeapHead, startHeapHead } from "./rig/heap_child.ts";
import { heapGrowth } from "./rig/heap_growth.ts";
import { startNodes } from "./rig/local_nodes.ts";
import type { BenchOptions } from "./rig/options.ts";
import { startEngine } from "./rig/processes.ts";
import type { Report } from "./rig/report.ts";

/** Source: case C054, and so are a sixth of the run and the tenth. */
const peerCount = 20;
const requestCountMax = 10_000;
const guestEveryMs = 5_000;
const heapRatioMax = 1.1;
/** Caches and compiled code are still filling up in a run of seconds. */
const smallRatioMax = 1.5;
/** A short run must not become a heavy one. */
const perSMax = 10;
/** Of the heap, a multiple of six: the last is held against the one at a sixth of the run. */
const sampleCounts = { full: 12, small: 6 };
/** Each sample is the least of this many looks, spread over the time in which a guest comes and goes. */
const looks = 3;
const joinWithinMs = 60_000;
const requestMsMax = 30_000;
const stream = { eventCount: 10, intervalMs: 20 };
/** Kinds of objects of which the report tells. */
const growthRows = 12;

type Sample = { readonly head: HeapFigures; readonly peers: HeapFigures };

/**
 * A head in a process of its own, and twenty workers in this one, while requests of all kinds come in and every few
 * seconds a node joins and another leaves.
 */
export async function benchSteady(options: BenchOptions, report: Report): Promise<void> {
  const seconds = options.seconds ?? (options.isSmall ? 20 : 3_600);
  const sampleCount = options.isSmall ? sampleCounts.small : sampleCounts.full;
  const warmSample = sampleCount / 6;
  const everyMs = Math.min(guestEveryMs, seconds * 1_000 / sampleCount);
  await using stack = new AsyncDisposableStack();
  const folder = await Deno.makeTempDir({ prefix: "otela-bench-" });
  stack.defer(() => Deno.remove(folder, { recursive: true }));
  const engine = await startEngine(stack, stream);
  const head = await startHeapHead(stack);
  await startNodes(stack, peerCount, {
    bootstrap: head.multiaddrs,
    services: [{ name: "llm", url: engine.url }],
  });
  await untilAllServe(head.url);

  const startMs = performance.now();
  const guests = new Guests(head, everyMs);
  const perS = Math.min(perSMax, requestCountMax / seconds);
  const requests = new Requests(head.url);
  const load = openLoop(
    { count: Math.floor(seconds * perS), perS },
    (index) => requests.ask(index),
  );
  const samples: Sample[] = [];
  for (let index = 1; index <= sampleCount; index++) {
    const dueMs = startMs + index * seconds * 1_000 / sampleCount - everyMs;
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, dueMs - performance.now())));
    const sample = await leastSample(head, everyMs);
    samples.push(sample);
    if (index === warmSample || index === sampleCount) await head.heap(`${folder}/${index}`);
    report.row({
      at_s: (performance.now() - startMs) / 1_000,
      requests: requests.count,
      guests: guests.leftCount,
      head_heap_mb: sample.head.heapMb,
      head_external_mb: sample.head.externalMb,
      head_rss_mb: sample.head.rssMb,
      peers_heap_mb: sample.peers.heapMb,
      peers_external_mb: sample.peers.externalMb,
    });
  }
  await load;
  await guests.stop();

  const growth = await heapGrowth(`${folder}/${warmSample}`, `${folder}/${sampleCount}`);
  for (const { kind, count, bytes } of growth.slice(0, growthRows)) {
    report.note(`head: ${bytes} bytes more in ${count} more of ${kind}`);
  }
  const [warm, last] = [samples[warmSample - 1], samples[sampleCount - 1]];
  const limit = options.isSmall ? smallRatioMax : heapRatioMax;
  report.judge("head: heap / warm heap", last.head.heapMb / warm.head.heapMb, "<=", limit);
  // The peers are shown and not judged: guests change who watches whom, and connections that were made for it stay, so
  // twenty peers go on connecting to each other (165 ends of connections after 100 s, 311 after 600 s).
  report.judge("requests failed", requests.failedCount, "=", 0);
  report.judge("guests not served", guests.leftCount - guests.servedCount, "=", 0);
}

async function leastSample(head: HeapHead, withinMs: number): Promise<Sample> {
  const seen: Sample[] = [];
  for (let look = 0; look < looks; look++) {
    seen.push({ head: await head.heap(), peers: await heapAfterGc() });
    await new Promise((resolve) => setTimeout(resolve, withinMs / looks));
  }
  const least = (of: keyof Sample) =>
    seen.map((sample) => sample[of]).reduce((a, b) => a.heapMb <= b.heapMb ? a : b);
  return { head: least("head"), peers: least("peers") };
}

async function untilAllServe(headUrl: string): Promise<void> {
  await eventually(async () => {
    const { data } = await (await fetch(`${headUrl}/v1/models`)).json();
    return data[0].otela.peers.length === peerCount;
  }, joinWithinMs);
}

/** What clients do, in turn: whole answers, streams, streams and answers that they do not wait for, wrong models. */
class Requests {
  count = 0;
  /** Ended otherwise than was meant. */
  failedCount = 0;

  constructor(private readonly headUrl: string) {}

  async ask(index: number): Promise<void> {
    const kind = index % 10;
    try {
      if (kind === 0) await this.post({ model: `none-${index}` }, 404);
      else if (kind === 1) await this.leave({ model: "m" });
      else if (kind === 2) await this.leave({ model: "m", stream: true });
      else await this.post({ model: "m", stream: kind > 6 }, 200);
    } catch {
      this.failedCount++;
    }
    this.count++;
  }

  private async post(body: Record<string, unknown>, status: number): Promise<void> {
    const abort = new AbortController();
    const timer = setTimeout(() => abort.abort(), requestMsMax);
    try {
      const response = await this.send(body, abort.signal);
      await response.text();
      if (response.status !== status) this.failedCount++;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Goes away once the answer has begun, or when it is late. */
  private async leave(body: Record<string, unknown>): Promise<void> {
    const abort = new AbortController();
    const timer = setTimeout(() => abort.abort(), stream.intervalMs);
    const response = await this.send(body, abort.signal).catch(() => undefined);
    await response?.body?.getReader().read().catch(() => {});
    clearTimeout(timer);
    abort.abort();
  }

  private send(body: Record<string, unknown>, signal: AbortSignal): Promise<Response> {
    return fetch(`${this.headUrl}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ messages: [{ role: "user", content: "hello there" }], ...body }),
      signal,
    });
  }
}
