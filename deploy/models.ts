// Which models does a node list, and who serves each?
import type { Ms } from "../lib/base/units.ts";
import type { LocalMesh } from "./local_mesh.ts";

/** One model as the head lists it. */
export type ServedModel = { readonly id: string; readonly peers: readonly string[] };

/** A new worker is listed within a second; a loaded machine may take longer (guess). */
const listedMs: Ms = 15_000;
const pollMs: Ms = 30;

/**
 * Waits until the head lists every model of every worker.
 * @returns Models in order of their ids, the first one that all workers serve in front.
 * @throws {Error} When the deadline passes before.
 */
export async function waitForModels(mesh: LocalMesh, signal: AbortSignal): Promise<ServedModel[]> {
  const endsAtMs = performance.now() + listedMs;
  while (performance.now() < endsAtMs) {
    const listed = await listModels(mesh.head.node.http, signal);
    const isWhole = mesh.workers.every(({ node, engine }) =>
      engine!.models.every((id) => listed.some((m) => m.id === id && m.peers.includes(node.peerId)))
    );
    if (isWhole) return listed.sort((a, b) => b.peers.length - a.peers.length);
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
  throw new Error(`The head does not list the workers' models after ${listedMs / 1_000} s`);
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
