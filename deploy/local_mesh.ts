// How does a whole mesh run on one machine: a head, two workers, and an engine behind each?
import { type NodeProcess, startNode } from "../tests/support/node_process.ts";
import { type DemoEngine, startDemoEngine } from "./engines.ts";
import type { MeshChoices } from "./mesh_choices.ts";
import { preparePackages } from "./packages.ts";
import { together } from "./together.ts";

/** One node of the mesh, with the name by which people are shown it. */
export type MeshNode = {
  readonly name: string;
  readonly node: NodeProcess;
  readonly startMs: number;
  /** `undefined` for the head. */
  readonly engine: DemoEngine | undefined;
};

/** Told what was started, in order. */
export type MeshReport = {
  readonly packages: () => void;
  readonly engine: (engine: DemoEngine, index: number) => void;
  readonly node: (node: MeshNode) => void;
};

/** A running mesh. Leaving an `await using` scope ends every process and removes every file of it. */
export class LocalMesh implements AsyncDisposable {
  constructor(
    readonly head: MeshNode,
    readonly workers: readonly MeshNode[],
    private readonly owned: AsyncDisposableStack,
  ) {}

  /** Name of the node with this PeerId; the PeerId itself when it is none of ours. */
  nameOf(peerId: string): string {
    const all = [this.head, ...this.workers];
    return all.find(({ node }) => node.peerId === peerId)?.name ?? peerId;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.owned.disposeAsync();
  }
}

const workerCount = 2;

/**
 * Starts engines and nodes as processes of their own, on loopback, on free ports, in a temporary folder.
 * @param choices Which engines, and by which program.
 * @param signal Ends the start; what had been started is ended then, as after any failure.
 * @throws {Error} When something does not start, with one line that says what.
 */
export async function startLocalMesh(
  { engines: engineChoices, exe }: MeshChoices,
  report: MeshReport,
  signal: AbortSignal,
): Promise<LocalMesh> {
  await using own = new AsyncDisposableStack();
  const home = await Deno.makeTempDir({ prefix: "otela-mesh-" });
  own.defer(() => Deno.remove(home, { recursive: true }));
  if (exe === undefined) await preparePackages(report.packages, signal);

  const startOne = async (
    name: string,
    args: string[],
    running: AbortSignal,
    engine?: DemoEngine,
  ) => {
    const folder = `${home}/${name.replace(" ", "-")}`;
    await Deno.mkdir(folder);
    const startedAtMs = performance.now();
    const node = own.use(await startNode({ home: folder, args, signal: running, exe }));
    return { name, node, startMs: performance.now() - startedAtMs, engine };
  };
  const engines = await together(
    Array.from({ length: workerCount }, (_, index) => async (running) => {
      const choice = engineChoices[Math.min(index, engineChoices.length - 1)];
      return await startDemoEngine(choice, index, { own, signal: running });
    }),
    signal,
  );
  engines.forEach(report.engine);
  const head = await startOne("head", ["--role", "head", ...onLoopback], signal);
  report.node(head);
  const workers = await together(
    engines.map((engine, index) => (running) => {
      const service = ["--service.name", "llm", "--service.url", engine.url];
      const args = ["--bootstrap.source", head.node.multiaddrs[0], ...service, ...onLoopback];
      return startOne(`worker ${index + 1}`, args, running, engine);
    }),
    signal,
  );
  workers.forEach(report.node);
  return new LocalMesh(head, workers, own.move());
}

/** Nothing of the demo listens where another machine could reach it. */
const onLoopback = ["--host", "127.0.0.1", "--mesh.hosts", "127.0.0.1"];
