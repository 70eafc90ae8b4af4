// How soon does everybody know what one node says?
import { percentile } from "./load/percentile.ts";
import { LocalNodes, until } from "./rig/local_nodes.ts";
import type { BenchOptions } from "./rig/options.ts";
import type { Report } from "./rig/report.ts";

const joinWithinMs = 180_000;
const missedAfterMs = 30_000;

/** One node after the other offers something; each other node's table is looked at until it says so. */
export async function benchConvergence(options: BenchOptions, report: Report): Promise<void> {
  const count = options.isSmall ? 8 : 128;
  const repetitions = options.rounds ?? (options.isSmall ? 2 : 20);
  await using mesh = await LocalNodes.start(count, joinWithinMs);
  const tookMs: number[] = [];
  let missed = 0;
  for (let repetition = 0; repetition < repetitions; repetition++) {
    const owner = mesh.nodes[1 + repetition % (count - 1)];
    const name = `s${repetition}`;
    const waiting = new Set(mesh.nodes.filter((node) => node !== owner));
    await using offer = await owner.offer({ name, handler: () => new Response("ok") });
    await offer.ready();
    const startMs = performance.now();
    const look = () => {
      for (const node of waiting) {
        const peer = node.peers().find(({ id }) => id === owner.peerId);
        if (!peer?.claim.services.some((service) => service.name === name)) continue;
        tookMs.push(performance.now() - startMs);
        waiting.delete(node);
      }
      return waiting.size === 0;
    };
    await until(look, missedAfterMs).catch(() => missed += waiting.size);
  }
  const max = Math.max(...tookMs);
  report.row({
    nodes: count,
    claims: repetitions,
    p50_ms: percentile(tookMs, 0.5),
    p95_ms: percentile(tookMs, 0.95),
    max_ms: max,
    missed,
  });
  const slack = options.isSmall ? 5 : 1;
  report.judge("p95 ms", percentile(tookMs, 0.95), "<=", 300 * slack);
  report.judge("max ms", max, "<=", 3_000 * slack);
  report.judge("missed", missed, "=", 0);
}
