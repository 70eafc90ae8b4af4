// How does a bench get a head and workers, as processes of their own, in front of engines of its own?
import { type NodeProcess, startNode } from "../../tests/support/node_process.ts";
import { onLoopback, serviceArgs, untilServed } from "../../tests/support/process_mesh.ts";

/** A head and one worker for each engine, in their order. */
export type EngineNodes = { readonly head: NodeProcess; readonly workers: readonly NodeProcess[] };

/**
 * Starts them and waits until the head lists the model `m` at all workers; they end with the stack.
 * @param exe Executable in place of the source.
 */
export async function startEngineNodes(
  stack: AsyncDisposableStack,
  engines: readonly { readonly url: string }[],
  { exe, headArgs = [] }: { exe: string | undefined; headArgs?: readonly string[] },
): Promise<EngineNodes> {
  const home = await Deno.makeTempDir({ prefix: "otela-bench-" });
  stack.defer(() => Deno.remove(home, { recursive: true }));
  const startIn = async (name: string, args: readonly string[]) => {
    await Deno.mkdir(`${home}/${name}`);
    const all = [...onLoopback, ...args];
    return stack.use(await startNode({ home: `${home}/${name}`, args: all, exe }));
  };
  const head = await startIn("head", ["--role", "head", ...headArgs]);
  const join = ["--bootstrap.source", head.multiaddrs[0]];
  const workers = await Promise.all(
    engines.map((engine, index) => startIn(`worker-${index}`, [...join, ...serviceArgs(engine)])),
  );
  await untilServed(head, ["m"], workers);
  return { head, workers };
}
