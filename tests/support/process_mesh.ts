// How do tests get a mesh of real processes in front of engines of their own?
import { type Engine, startEngine } from "./engine.ts";
import type { EngineOptions } from "./engine_options.ts";
import { type NodeProcess, startNode } from "./node_process.ts";
import { eventually } from "./eventually.ts";

/** One worker of the mesh and the engine behind it, which runs in the test itself. */
export type ProcessWorker = { readonly node: NodeProcess; readonly engine: Engine };

/** A head and its workers, on loopback. Leaving an `await using` scope ends all of it. */
export type ProcessMesh = AsyncDisposable & {
  readonly head: NodeProcess;
  readonly workers: readonly ProcessWorker[];
  /** Folder in which the nodes live; more of them may be started there. */
  readonly home: string;
  /** Arguments of one more node that enters through the head. */
  readonly join: readonly string[];
};

export const onLoopback = ["--host", "127.0.0.1", "--mesh.hosts", "127.0.0.1"];

/** Quick checks, so that a test sees a change of an engine soon. */
const quickChecks = ["--service.health_interval", "200ms", "--service.model_refresh", "200ms"];

/**
 * Starts a head and a worker for each engine, and waits until the head lists all of their models.
 * @param engines One worker each.
 * @param args For each worker, besides.
 */
export async function startProcessMesh(
  engines: readonly EngineOptions[],
  { headArgs = [], workerArgs = [] }: {
    readonly headArgs?: readonly string[];
    readonly workerArgs?: readonly string[];
  } = {},
): Promise<ProcessMesh> {
  await using own = new AsyncDisposableStack();
  const home = await Deno.makeTempDir();
  own.defer(() => Deno.remove(home, { recursive: true }));
  const startIn = async (name: string, args: readonly string[]) => {
    const folder = `${home}/${name}`;
    await Deno.mkdir(folder);
    return own.use(await startNode({ home: folder, args: [...onLoopback, ...args] }));
  };
  const head = await startIn("head", ["--role", "head", ...headArgs]);
  const join = [...onLoopback, "--bootstrap.source", head.multiaddrs[0]];
  const workers = await Promise.all(engines.map(async (options, index) => {
    const engine = startEngine(options);
    own.defer(() => engine.stop());
    const service = ["--service.name", "llm", "--service.url", engine.url, ...quickChecks];
    const args = [...join.slice(onLoopback.length), ...service, ...workerArgs];
    return { node: await startIn(`worker-${index}`, args), engine };
  }));
  const wanted = new Set(engines.flatMap(({ models = ["test-model"] }) => models));
  const serving = workers.map(({ node }) => node.peerId);
  await eventually(async () => {
    const models = await modelsAt(head);
    const peers = new Set([...models.values()].flat());
    return [...wanted].every((model) => models.has(model)) &&
      serving.every((peer) => peers.has(peer));
  });
  const owned = own.move();
  return { head, workers, home, join, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** What a node lists: model to the peers that serve it. */
export async function modelsAt(node: NodeProcess): Promise<Map<string, string[]>> {
  const { data } = await (await fetch(`${node.http}/v1/models`)).json();
  return new Map(
    data.map(({ id, otela }: { id: string; otela: { peers: string[] } }) => [id, otela.peers]),
  );
}
