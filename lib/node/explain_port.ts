// Where would this node send a request, and why?
import { OtelaError } from "../base/errors.ts";
import type { Explanation, RoutingQuestion } from "../gateway/operator_door.ts";
import { type ExplainParts, explainTiers } from "../routing/explain.ts";
import type { LbPolicy } from "../routing/policies/types.ts";
import { selectTiers } from "../routing/select_tiers.ts";
import type { Parts } from "./parts.ts";

/** The answers to `otela explain`: what the forward path would see now; nothing is sent. */
export function explainPort(
  { network, clock }: Pick<Parts, "network" | "clock">,
  policy: LbPolicy,
  parts: ExplainParts,
): (question: RoutingQuestion) => Explanation {
  return ({ service, key, value, fallback }) => {
    const selection = selectTiers(network.routing(), {
      service,
      matchKeys: new Map([[key, value]]),
      fallbackLevel: fallback,
      allowedPeers: null,
    });
    if (selection.outcome === "no_such_service") {
      throw new OtelaError(
        "no_such_service",
        `Cannot explain "${service.slice(0, 100)}" as a peer that is here must offer it: none does`,
      );
    }
    const tiers = selection.outcome === "tiers" ? selection.tiers : [];
    return { policy, candidates: explainTiers(tiers, parts, clock.nowMs()) };
  };
}
