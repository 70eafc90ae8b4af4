// Which names may become metric labels?

/**
 * What this node knows to exist (port; the node answers from its table). Metric labels never come from
 * what a client typed or from a claim that was not admitted.
 */
export interface LabelGate {
  /** Whether an admitted peer offers a service of this name, or this node does. */
  hasService(name: string): boolean;
  /** Whether the peer is in the table. */
  hasWorker(peer: string): boolean;
}

/** Names cut down to labels: `unknown` for what nobody offers, `other` beyond the bound. */
export interface BoundedLabels {
  service(name: string): string;
  worker(peer: string): string;
}

/** @param servicesMax Names that keep their own label for the life of the process. */
export function boundedLabels(gate: LabelGate, servicesMax: number): BoundedLabels {
  const services = new Set<string>();
  return {
    service(name) {
      if (services.has(name)) return name;
      if (!gate.hasService(name)) return "unknown";
      if (services.size >= servicesMax) return "other";
      services.add(name);
      return name;
    },
    worker: (peer) => gate.hasWorker(peer) ? peer : "unknown",
  };
}
