// How does a bench get dozens of real nodes into one process?
import { type MeshNode, startNode, type StartOptions } from "../../mod.ts";

const options: StartOptions = {
  meshHosts: ["127.0.0.1"],
  network: "bench",
  secret: "correct horse battery staple",
  logLevel: "error",
};
/** Started together; more would only wait for each other's keys. */
const startedAtOnce = 8;

/** A head and workers that all know each other's claims. Leaving an `await using` scope stops them. */
export class LocalNodes implements AsyncDisposable {
  private constructor(readonly nodes: readonly MeshNode[]) {}

  get head(): MeshNode {
    return this.nodes[0];
  }

  static async start(count: number, withinMs: number): Promise<LocalNodes> {
    await using stack = new AsyncDisposableStack();
    const start = async (more: StartOptions) => {
      const node = await startNode({ ...options, ...more });
      stack.defer(() => node.stop({ drainMs: 0 }));
      return node;
    };
    const head = await start({ role: "head" });
    const nodes = [head];
    while (nodes.length < count) {
      const batch = Math.min(startedAtOnce, count - nodes.length);
      const bootstrap = head.multiaddrs();
      nodes.push(...await Promise.all(Array.from({ length: batch }, () => start({ bootstrap }))));
    }
    await until(() => nodes.every((node) => node.peers().length === count), withinMs);
    stack.move();
    return new LocalNodes(nodes);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.stop({ drainMs: 0 })));
  }
}

/** Between looks, as a multiple of what a look takes: looking must not keep the nodes from their work. */
const restShare = 20;

/** Looks until it is so. @throws {Error} When it is not so in time. */
export async function until(look: () => boolean, withinMs: number): Promise<void> {
  const endMs = performance.now() + withinMs;
  for (;;) {
    const startMs = performance.now();
    if (look()) return;
    if (startMs > endMs) throw new Error(`It was not so within ${withinMs} ms`);
    const tookMs = performance.now() - startMs;
    await new Promise((resolve) => setTimeout(resolve, Math.max(20, restShare * tookMs)));
  }
}
