// Which models does a node list, and who serves each?
import type { Ms } from "../lib/base/units.ts";
import type { MeshNode } from "./local_mesh.ts";

/** One model as the head lists it. */
export type ServedModel = { readonly id: string; readonly peers: readonly string[] };

/** The list follows a worker that comes or goes within a second; a loaded machine may take longer (guess). */
const deadlineMs: Ms = 15_000;
const pollMs: Ms = 30;

/**
 * Waits until the head lists just the models of these workers.
 * @returns Models in order of their ids, those that more workers serve in front.
 * @throws {Error} When the deadline passes before.
 */
export async function waitForModels(
  head: MeshNode,
  workers: readonly MeshNode[],
  signal: AbortSignal,
): Promise<ServedModel[]> {
  const wanted = workers.flatMap(({ node, engine }) =>
    engine!.models.map((id) => `${id} ${node.peerId}`)
  ).sort().join();
  const endsAtMs = performance.now() + deadlineMs;
  while (performance.now() < endsAtMs) {
    const listed = await listModels(head.node.http, signal);
    const found = listed.flatMap(({ id, peers }) => peers.map((peer) => `${id} ${peer}`));
    if (found.sort().join() === wanted) {
      return listed.sort((a, b) => b.peers.length - a.peers.length);
    }
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
  throw new Error(`The head does not list what its workers serve after ${deadlineMs / 1_000} s`);
}

/** What `/v1/models` says now. */
async function listModels(url: string, signal: AbortSignal): Promise<ServedModel[]> {
  const response = await fetch(`${url}/v1/models`, { signal });
  if (!response.ok) throw new Error(`The head answers ${response.status} to /v1/models`);
  const { data } = await response.json() as {
    data: { id: string; otela: { peers: string[] } }[];
  };
  return data.map(({ id, otela }) => ({ id, peers: otela.peers }));
}
