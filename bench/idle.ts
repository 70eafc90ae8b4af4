// What does a mesh cost in which nothing happens?
import { LocalNodes } from "./rig/local_nodes.ts";
import type { BenchOptions } from "./rig/options.ts";
import type { Report } from "./rig/report.ts";
import { sampleSocket, SocketCounter } from "./rig/socket_bytes.ts";

const joinWithinMs = 120_000;

/** Bytes a second and node that is no head, sent and received, counted at the socket. */
export async function benchIdle(options: BenchOptions, report: Report): Promise<void> {
  const counts = options.isSmall ? [6] : [10, 50, 100];
  const settleMs = options.isSmall ? 3_000 : 30_000;
  const seconds = options.seconds ?? (options.isSmall ? 5 : 60);
  const perNode: number[] = [];
  using counter = new SocketCounter(await sampleSocket());
  for (const count of counts) {
    await using mesh = await LocalNodes.start(count, joinWithinMs);
    await new Promise((resolve) => setTimeout(resolve, settleMs));
    counter.reset();
    await new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
    const port = Number(mesh.head.multiaddrs()[0].split("/")[4]);
    // Both ends of every connection are here, and the head's are counted under its port at both ends.
    const head = counter.ofPort(port) / 2;
    const workers = counter.total() - head;
    const bytes = workers / (count - 1) / seconds;
    perNode.push(bytes);
    report.row({ nodes: count, worker_bytes_per_s: bytes, head_bytes_per_s: head / seconds });
  }
  const at = (count: number) => perNode[counts.indexOf(count)];
  if (options.isSmall) return report.judge("worker bytes/s", perNode[0], "<=", 3_000);
  report.judge("worker bytes/s at 50", at(50), "<=", 1_024);
  report.judge("growth from 10 to 100", at(100) / at(10), "<=", 1.3);
}
