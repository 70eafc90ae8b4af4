// What does it cost when every node has something new to say every 3 s?
import type { MeshNode, Offer } from "../mod.ts";
import { LocalNodes } from "./rig/local_nodes.ts";
import type { BenchOptions } from "./rig/options.ts";
import type { Report } from "./rig/report.ts";
import { sampleSocket, SocketCounter } from "./rig/socket_bytes.ts";

const nodeCount = 10;
const everyMs = 3_000;
const joinWithinMs = 60_000;
/** Nodes that have just joined still look for watchers: their handshakes are no churn. */
const settleMs = 15_000;

/** Bytes a second and node, sent and received, while each rewrites its claim every 3 s. */
export async function benchChurn(options: BenchOptions, report: Report): Promise<void> {
  const seconds = options.seconds ?? (options.isSmall ? 6 : 60);
  await using mesh = await LocalNodes.start(nodeCount, joinWithinMs);
  await new Promise((resolve) => setTimeout(resolve, options.isSmall ? settleMs / 10 : settleMs));
  using counter = new SocketCounter(await sampleSocket());
  const rewriters = mesh.nodes.map((node, index) =>
    new Rewriter(node, index * everyMs / nodeCount)
  );
  counter.reset();
  await new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
  const bytes = counter.total() / nodeCount / seconds;
  const rewrites = (await Promise.all(rewriters.map((rewriter) => rewriter.stop())))
    .reduce((sum, count) => sum + count, 0);
  report.row({ nodes: nodeCount, rewrites, bytes_per_node_s: bytes });
  report.judge("bytes per node and second", bytes, "<=", 16 * 1_024);
}

/** Offers and withdraws in turn; each is a new claim. */
class Rewriter {
  #count = 0;
  #offer: Promise<Offer | undefined> = Promise.resolve(undefined);
  #timer: ReturnType<typeof setInterval> | undefined;
  readonly #first: ReturnType<typeof setTimeout>;

  constructor(readonly node: MeshNode, delayMs: number) {
    this.#first = setTimeout(() => {
      this.#timer = setInterval(() => this.#rewrite(), everyMs);
      this.#rewrite();
    }, delayMs);
  }

  async stop(): Promise<number> {
    clearTimeout(this.#first);
    clearInterval(this.#timer);
    await (await this.#offer)?.withdraw();
    return this.#count;
  }

  #rewrite(): void {
    this.#count++;
    this.#offer = this.#offer.then(async (offer) => {
      if (offer) return void await offer.withdraw();
      const made = await this.node.offer({ name: "churn", handler: () => new Response("ok") });
      await made.ready();
      return made;
    });
  }
}
