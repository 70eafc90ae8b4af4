// How do tests of the library get nodes that know each other?
import { type MeshNode, type OfferOptions, startNode, type StartOptions } from "../../mod.ts";
import { within } from "./within.ts";

/** Long enough for a machine on which other tests run. */
export const patienceMs = 30_000;

/** Loopback only, and closed, so that no other test can walk in. */
export const localOptions: StartOptions = {
  meshHosts: ["127.0.0.1"],
  network: "toolkit",
  secret: "correct horse battery staple",
};

/** A node on loopback. */
export function startLocal(options: StartOptions = {}): Promise<MeshNode> {
  return startNode({ ...localOptions, ...options });
}

/** A worker with these services, and a caller that has seen all of them. */
export class Pair implements AsyncDisposable {
  private constructor(readonly worker: MeshNode, readonly caller: MeshNode) {}

  static async start(...services: OfferOptions[]): Promise<Pair> {
    await using stack = new AsyncDisposableStack();
    const worker = stack.use(await startLocal({ services }));
    const caller = stack.use(await startLocal({ role: "head", bootstrap: worker.multiaddrs() }));
    for (const { name } of services) await untilOffered(caller, name, 1);
    stack.move();
    return new Pair(worker, caller);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.caller.stop({ drainMs: 0 }), this.worker.stop({ drainMs: 0 })]);
  }
}

/** Waits until that many peers offer a service, as this node sees it. */
export async function untilOffered(node: MeshNode, service: string, count: number): Promise<void> {
  const offering = () =>
    node.peers().filter(({ claim }) => claim.services.some(({ name }) => name === service));
  const seen = async () => {
    for await (const _ of node.watch()) if (offering().length >= count) return;
  };
  await within(patienceMs, seen());
}
