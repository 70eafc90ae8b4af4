// How soon does everybody know what one node says?
import type { MeshNode } from "../mod.ts";
import { percentile } from "./load/percentile.ts";
import { LocalNodes } from "./rig/local_nodes.ts";
import type { BenchOptions } from "./rig/options.ts";
import type { Report } from "./rig/report.ts";

const joinWithinMs = 240_000;
const missedAfterMs = 30_000;
/** So that what one claim causes is over before the next one. */
const restMs = 1_000;

/** One node after the other offers something; all others watch for it. */
export async function benchConvergence(options: BenchOptions, report: Report): Promise<void> {
  const count = options.isSmall ? 8 : 128;
  const repetitions = options.rounds ?? (options.isSmall ? 2 : 20);
  await using mesh = await LocalNodes.start(count, joinWithinMs);
  const watchers = mesh.nodes.map((node) => new ServiceWatch(node));
  await new Promise((resolve) => setTimeout(resolve, 5 * restMs));
  const tookMs: number[] = [];
  let missed = 0;
  for (let repetition = 0; repetition < repetitions; repetition++) {
    const owner = mesh.nodes[1 + repetition % (count - 1)];
    const name = `s${repetition}`;
    const seen = watchers.filter(({ node }) => node !== owner).map((watch) => watch.seen(name));
    const startMs = performance.now();
    await using _offer = await owner.offer({ name, handler: () => new Response("ok") });
    for (const atMs of await Promise.all(seen)) {
      if (atMs === undefined) missed++;
      else tookMs.push(atMs - startMs);
    }
    await new Promise((resolve) => setTimeout(resolve, restMs));
  }
  await Promise.all(watchers.map((watch) => watch.end()));
  const [p50_ms, p95_ms, max_ms] = [0.5, 0.95, 1].map((share) => percentile(tookMs, share));
  report.row({ nodes: count, claims: repetitions, p50_ms, p95_ms, max_ms, missed });
  const slack = options.isSmall ? 5 : 1;
  report.judge("p95 ms", p95_ms, "<=", 300 * slack);
  report.judge("max ms", max_ms, "<=", 3_000 * slack);
  report.judge("missed", missed, "=", 0);
}

/** When does one node see a service of another? */
class ServiceWatch {
  readonly #seenAtMs = new Map<string, number>();
  readonly #waiting = new Map<string, (atMs: number | undefined) => void>();
  readonly #over = new AbortController();
  readonly #watching: Promise<void>;

  constructor(readonly node: MeshNode) {
    this.#watching = this.#watch();
  }

  /** When it was seen first; `undefined` when it was not in time. */
  seen(name: string): Promise<number | undefined> {
    const { promise, resolve } = Promise.withResolvers<number | undefined>();
    const timer = setTimeout(() => resolve(undefined), missedAfterMs);
    this.#waiting.set(name, (atMs) => {
      clearTimeout(timer);
      resolve(atMs);
    });
    return promise;
  }

  async end(): Promise<void> {
    this.#over.abort();
    await this.#watching;
  }

  async #watch(): Promise<void> {
    for await (const { peer } of this.node.watch({ signal: this.#over.signal })) {
      for (const { name } of peer.claim.services) {
        if (this.#seenAtMs.has(name)) continue;
        this.#seenAtMs.set(name, performance.now());
        this.#waiting.get(name)?.(this.#seenAtMs.get(name));
      }
    }
  }
}
