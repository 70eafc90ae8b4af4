// What does a client hear when nobody may serve its request?
import { OtelaError } from "../base/errors.ts";
import type { MatchKeys } from "../routing/identity_group.ts";

/** Asks whether any peer claimed a service, or one group of it, also if it has left meanwhile. */
export type WasClaimed = (service: string, group: string | null) => boolean;

/**
 * The error for a request without a candidate: 404 for what nobody ever offered, 503 with a wait for what was
 * there and may come back.
 * @param outcome As `selectTiers` said it.
 */
export function noTier(
  outcome: "no_such_service" | "no_match" | "none_allowed",
  service: string,
  keys: MatchKeys,
  wasClaimed: WasClaimed,
): OtelaError {
  if (outcome === "none_allowed") {
    return new OtelaError(
      "no_candidate",
      `Cannot route to "${service}" as none of the peers in X-Otela-Allowed-Peers offers it now`,
    );
  }
  if (outcome === "no_such_service") {
    if (!wasClaimed(service, null)) return noSuchService(service);
    return new OtelaError(
      "no_candidate",
      `Cannot route to "${service}" as no peer that offers it is here now`,
    );
  }
  return noMatch(service, keys, wasClaimed);
}

function noSuchService(service: string): OtelaError {
  return new OtelaError(
    "no_such_service",
    `Cannot route to "${service}" as no peer offers a service of this name`,
  );
}

function noMatch(service: string, keys: MatchKeys, wasClaimed: WasClaimed): OtelaError {
  const [key, value] = [...keys].find(([, text]) => text !== null) ?? [];
  if (key === undefined || value === undefined) {
    return new OtelaError(
      "model_not_found",
      `Cannot route to "${service}" as the request names nothing that its peers are known by; ` +
        "the header X-Otela-Identity-Group, such as model=NAME, does, or X-Otela-Fallback: 2 asks any peer that takes all",
    );
  }
  const group = `${key}=${value}`;
  if (wasClaimed(service, group)) {
    return new OtelaError(
      "no_candidate",
      `Cannot route to "${service}" as no peer with ${group.slice(0, 200)} is here now`,
    );
  }
  return new OtelaError(
    "model_not_found",
    `Cannot route to "${service}" as no peer offers ${group.slice(0, 200)}`,
  );
}
