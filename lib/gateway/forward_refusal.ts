// What does a client hear when nobody may serve its request?
import { OtelaError } from "../base/errors.ts";
import { type RoutingRequest, selectTiers, type TierSelection } from "../routing/select_tiers.ts";
import type { RoutingView } from "../routing/view.ts";

/** Why nobody serves a request, as `selectTiers` says it. */
export type NobodyServes = Exclude<TierSelection["outcome"], "tiers">;

/**
 * The error for a request without a candidate: 404 for what nobody is known to offer, 503 with a wait for what
 * was there and may come back, by the very rules that choose among the living.
 * @param outcome For the living.
 * @param request What it asks for, by the keys of all claims.
 * @param claimed Everybody whose claim is kept: `RoutingView.claimed`.
 */
export function noTier(
  outcome: NobodyServes,
  request: RoutingRequest,
  claimed: RoutingView,
): OtelaError {
  const { service } = request;
  if (outcome === "none_allowed") {
    return new OtelaError(
      "no_candidate",
      `Cannot route to "${service}" as none of the peers in X-Otela-Allowed-Peers offers it now`,
    );
  }
  const known = selectTiers(claimed, request).outcome;
  if (known === "no_such_service") return noSuchService(service);
  const group = groupOf(request);
  if (known === "no_match") return noSuchGroup(service, group);
  const offered = group ? `with ${group}` : "that offers it";
  return new OtelaError(
    "no_candidate",
    `Cannot route to "${service}" as no peer ${offered} is here now`,
  );
}

/** Nobody is known to offer a service of this name. */
export function noSuchService(service: string): OtelaError {
  return new OtelaError(
    "no_such_service",
    `Cannot route to "${service}" as no peer offers a service of this name`,
  );
}

/** The first key that the request names, as people write it; empty when it names none. */
function groupOf({ matchKeys }: RoutingRequest): string {
  const [key, value] = [...matchKeys].find(([, text]) => text !== null) ?? [];
  return key === undefined ? "" : `${key}=${value}`.slice(0, 200);
}

function noSuchGroup(service: string, group: string): OtelaError {
  const why = group ? `no peer offers ${group}` : "the request names nothing that its peers are " +
    "known by; the header X-Otela-Identity-Group, such as model=NAME, does, or X-Otela-Fallback: 2 asks any peer that takes all";
  return new OtelaError("model_not_found", `Cannot route to "${service}" as ${why}`);
}
