// Which models does the mesh serve, and who serves each?
import type { PeerId } from "../base/peer_id.ts";
import type { Status } from "../membership/status.ts";
import type { EngineClaim } from "../registry/claim.ts";
import type { MeshTable } from "./ports.ts";

/** One model in OpenAI's shape, with who serves it beside. */
export type ListedModel = {
  readonly id: string;
  readonly object: "model";
  /** Unix seconds. */
  readonly created: number;
  readonly owned_by: string;
  readonly otela: {
    readonly peers: readonly {
      readonly id: PeerId;
      readonly status: Status;
      readonly engine: EngineClaim;
    }[];
  };
};

const groupPrefix = "model=";

/**
 * The union of what live peers offer (C036): every model once, in order of its id, with the peers in
 * order too. Peers that left, services that drain, and wildcards (they name no model) are not listed;
 * a mesh that serves nothing gives an empty list, never an error.
 * @param service The service that OpenAI's own paths mean.
 * @param createdS Unix seconds to show; claims hold no dates, so it is the start of this node.
 */
export function listModels(
  table: MeshTable,
  service: string,
  createdS: number,
): ReadonlyMap<string, ListedModel> {
  const peersOf = new Map<string, ListedModel["otela"]["peers"][number][]>();
  for (const { peer, claim, status } of table.entries) {
    if (status.status === "left") continue;
    // A peer may run the service more than once; it is listed once per model all the same.
    const seen = new Set<string>();
    for (const offered of claim.services) {
      if (offered.name !== service || offered.state !== "ready") continue;
      for (const group of offered.identityGroups) {
        const id = group.startsWith(groupPrefix) ? group.slice(groupPrefix.length) : "";
        if (id === "" || id === "*" || seen.has(id)) continue;
        seen.add(id);
        const peers = peersOf.get(id) ?? [];
        peers.push({ id: peer, status: status.status, engine: offered.engine });
        peersOf.set(id, peers);
      }
    }
  }
  const ids = [...peersOf.keys()].sort();
  return new Map(ids.map((id) => [id, {
    id,
    object: "model",
    created: createdS,
    owned_by: "otela",
    otela: { peers: peersOf.get(id) ?? [] },
  }]));
}
