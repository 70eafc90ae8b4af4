// Which models can be asked for, and who serves them?
import type { PeerId } from "../base/peer_id.ts";
import type { RoutingView } from "./view.ts";

/** One model of the mesh. */
export type ServedModel = {
  readonly id: string;
  /** In the order of PeerIds, at least one; suspects included. */
  readonly peers: readonly PeerId[];
};

/**
 * The union of all models of a service over the peers that have not left: every id once, in the order of ids.
 * Wildcards name no model and add none.
 * @param service `llm` for the OpenAI endpoints; an unknown one has no models.
 */
export function modelsOf(view: RoutingView, service: string): ServedModel[] {
  const models: ServedModel[] = [];
  for (const [id, candidates] of view.services.get(service)?.exact.get("model") ?? []) {
    models.push({ id, peers: candidates.map((candidate) => candidate.peer) });
  }
  return models.sort((a, b) => a.id < b.id ? -1 : 1);
}
