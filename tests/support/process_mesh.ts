// How do tests get a mesh of real processes in front of engines of their own?
import { type Engine, startEngine } from "./engine.ts";
import type { EngineOptions } from "./engine_options.ts";
import { type NodeProcess, startNode } from "./node_process.ts";
import type { Ms } from "../../lib/base/units.ts";
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
  /** Starts one more node in the folder `name` of `home`, which it may have had before; ends with the mesh. */
  startNode(name: string, args: readonly string[]): Promise<NodeProcess>;
  /** Starts one more worker with an engine of its own, and arguments that it alone has. */
  startWorker(
    name: string,
    engine: EngineOptions,
    args?: readonly string[],
  ): Promise<ProcessWorker>;
};

export const onLoopback = ["--host", "127.0.0.1", "--mesh.hosts", "127.0.0.1"];

/** Quick checks, so that a test sees a change of an engine soon. */
const quickChecks = ["--service.health_interval", "200ms", "--service.model_refresh", "200ms"];

/** Arguments by which a node offers an engine as the service `llm`. */
export function serviceArgs({ url }: Pick<Engine, "url">): string[] {
  return ["--service.name", "llm", "--service.url", url, ...quickChecks];
}

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
  const stack = new AsyncDisposableStack();
  const home = await Deno.makeTempDir();
  stack.defer(() => Deno.remove(home, { recursive: true }));
  const startIn = async (name: string, args: readonly string[]) => {
    const folder = `${home}/${name}`;
    await Deno.mkdir(folder, { recursive: true });
    return stack.use(await startNode({ home: folder, args }));
  };
  try {
    const head = await startIn("head", [...onLoopback, "--role", "head", ...headArgs]);
    const join = [...onLoopback, "--bootstrap.source", head.multiaddrs[0]];
    const startWorker = async (
      name: string,
      options: EngineOptions,
      args: readonly string[] = [],
    ) => {
      const engine = startEngine(options);
      stack.defer(() => engine.stop());
      return { node: await startIn(name, [...join, ...serviceArgs(engine), ...args]), engine };
    };
    const workers = await Promise.all(
      engines.map((options, index) => startWorker(`worker-${index}`, options, workerArgs)),
    );
    const models = engines.flatMap((options) => options.models ?? ["test-model"]);
    await untilServed(head, models, workers.map(({ node }) => node));
    const end = () => stack.disposeAsync();
    return {
      head,
      workers,
      home,
      join,
      startNode: startIn,
      startWorker,
      [Symbol.asyncDispose]: end,
    };
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}

/** Waits until a node lists each of the models, and each of the peers with one. */
export async function untilServed(
  at: NodeProcess,
  wanted: readonly string[],
  by: readonly NodeProcess[],
  deadlineMs?: Ms,
): Promise<void> {
  await eventually(async () => {
    const models = await modelsAt(at);
    const peers = new Set([...models.values()].flat());
    return wanted.every((model) => models.has(model)) &&
      by.every(({ peerId }) => peers.has(peerId));
  }, deadlineMs);
}

/** What a node lists: model to the peers that serve it. */
export async function modelsAt(node: NodeProcess): Promise<Map<string, string[]>> {
  const { data } = await (await fetch(`${node.http}/v1/models`)).json();
  return new Map(
    data.map(({ id, otela }: { id: string; otela: { peers: string[] } }) => [id, otela.peers]),
  );
}
