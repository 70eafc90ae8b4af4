// How does a bench get dozens of real nodes into one process?
import { type MeshNode, startNode, type StartOptions } from "../../mod.ts";

/** A closed mesh on loopback. */
export const localOptions: StartOptions = {
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
    const head = await startNode({ ...localOptions, role: "head" });
    stack.defer(() => head.stop({ drainMs: 0 }));
    const workers = await startNodes(stack, count - 1, { bootstrap: head.multiaddrs() });
    const nodes = [head, ...workers];
    await until(() => nodes.every((node) => node.peers().length === count), withinMs);
    stack.move();
    return new LocalNodes(nodes);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.stop({ drainMs: 0 })));
  }
}

/** Starts that many nodes with these options besides `localOptions`; the stack stops them. */
export async function startNodes(
  stack: AsyncDisposableStack,
  count: number,
  more: StartOptions,
): Promise<MeshNode[]> {
  const nodes: MeshNode[] = [];
  stack.defer(async () => void await Promise.all(nodes.map((node) => node.stop({ drainMs: 0 }))));
  const start = async () => void nodes.push(await startNode({ ...localOptions, ...more }));
  while (nodes.length < count) {
    const batch = Math.min(startedAtOnce, count - nodes.length);
    await Promise.all(Array.from({ length: batch }, start));
  }
  return nodes;
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
