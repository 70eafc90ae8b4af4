// What does a node pay for each peer that it knows of?
import { silentLog } from "../lib/base/ports.ts";
import { SnapshotFile } from "../lib/node/snapshot_file.ts";
import { startAutomerge } from "../lib/registry/automerge.ts";
import { eventually } from "../tests/support/eventually.ts";
import { startNode } from "../tests/support/node_process.ts";
import { tableAt } from "../tests/support/table_at.ts";
import { workerEnvelopes } from "../tests/support/worker_envelopes.ts";
import { settledMemoryMb } from "./rig/memory.ts";
import type { BenchOptions } from "./rig/options.ts";
import type { Report } from "./rig/report.ts";

const network = "bench";
const listedAfterMsMax = 60_000;

/** Starts a node that remembers few peers, and one that remembers many: what the one holds more, a peer. */
export async function benchMemory(options: BenchOptions, report: Report): Promise<void> {
  await startAutomerge();
  const [few, many] = options.isSmall ? [50, 550] : [100, 2_100];
  const settleMs = (options.seconds ?? (options.isSmall ? 18 : 25)) * 1_000;
  const fewMb = await memoryWith(few, settleMs);
  const manyMb = await memoryWith(many, settleMs);
  report.row({ peers: few, rss_mb: fewMb });
  report.row({ peers: many, rss_mb: manyMb });
  const kilobytes = (manyMb - fewMb) * 1_000 / (many - few);
  report.judge("KB per peer", kilobytes, "<=", options.isSmall ? 60 : 20);
}

async function memoryWith(peerCount: number, settleMs: number): Promise<number> {
  const home = await Deno.makeTempDir();
  try {
    const instance = `${home}/state/instances/default`;
    await Deno.mkdir(instance, { recursive: true, mode: 0o700 });
    const envelopes = [...workerEnvelopes(peerCount, network)];
    await new SnapshotFile(`${instance}/registry.snapshot`, silentLog)
      .write({ envelopes, floors: [] });
    const args = ["--state-dir", `${home}/state`, "--network", network, "--cleanslate=false"];
    await using node = await startNode({ home, args });
    const listed = async () => Object.keys(await tableAt(node)).length > peerCount;
    await eventually(listed, listedAfterMsMax);
    return await settledMemoryMb(node.program.pid, settleMs);
  } finally {
    await Deno.remove(home, { recursive: true });
  }
}
