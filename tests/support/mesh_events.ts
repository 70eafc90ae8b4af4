// How does a test wait for what a mesh tells?
import type { Mesh, MeshEvent } from "../../lib/mesh/types.ts";
import { within } from "./within.ts";

/** The next event for which `isIt` holds; subscribe before causing it. */
export function nextEvent(
  mesh: Mesh,
  isIt: (event: MeshEvent) => boolean,
  deadlineMs = 10_000,
): Promise<MeshEvent> {
  const { promise, resolve } = Promise.withResolvers<MeshEvent>();
  const end = mesh.subscribe((event) => isIt(event) && resolve(event));
  return within(deadlineMs, promise).finally(end);
}

/** Resolves once a mesh has a connection to a peer. */
export async function connected(mesh: Mesh, peer: Mesh, deadlineMs = 10_000): Promise<void> {
  const event = nextEvent(
    mesh,
    ({ type, peer: who }) => type === "connected" && who === peer.peerId,
    deadlineMs,
  );
  event.catch(() => {});
  if (!mesh.isConnected(peer.peerId)) await event;
}

/** Asks again after each turn of the event loop until it holds. */
export async function until(isTrue: () => boolean, deadlineMs = 10_000): Promise<void> {
  const endMs = performance.now() + deadlineMs;
  while (!isTrue()) {
    if (performance.now() > endMs) throw new Error(`It did not hold within ${deadlineMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
