// What may a program in the same thread use of a node, besides its doors?
import type { MeshTable } from "../gateway/ports.ts";
import type { ServicesPort } from "../gateway/operator_door.ts";
import type { Forwarder } from "../gateway/target.ts";
import type { ThreadWork } from "../platform/garbage_plan.ts";
import type { NodeParts } from "./node_parts.ts";
import { servicesPort } from "./services_port.ts";
import { workOf } from "./thread_work.ts";

/** The inside of a running node: what its doors use, without the doors. */
export type NodeInside = {
  /** The forward path of the client door: same routing, retries, limits and figures. */
  readonly forwarder: Forwarder;
  /** The services of the operator door. */
  readonly services: ServicesPort;
  readonly newRequestId: () => string;
  /** What it carries: exchanges that are open, and how many were begun. */
  work(): ThreadWork;
  /** Every claim this node holds; the same object as long as nothing changed. */
  table(): MeshTable;
  /**
   * Tells of every change of claims, statuses, connections and own services, in the turn in which it happens.
   * @param listener Must be quick: it reads nothing, it notes that there is something to read.
   * @returns Ends it.
   */
  onChange(listener: () => void): () => void;
};

/** The inside of these parts. */
export function insideOf(parts: NodeParts): NodeInside {
  const { forwarder, services, newRequestId, network } = parts;
  return {
    forwarder,
    services: servicesPort(services),
    newRequestId,
    work: () => workOf(parts),
    table: () => network.table(),
    onChange: (listener) => network.subscribe(listener),
  };
}
