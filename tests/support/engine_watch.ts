// How does a test follow what a ServiceSet claims?
import { silentLog } from "../../lib/base/ports.ts";
import type { ServiceConfig } from "../../lib/config/node_config.ts";
import type { ServiceClaim } from "../../lib/registry/claim.ts";
import { parseServiceRequest } from "../../lib/service/service_request.ts";
import { ServiceSet } from "../../lib/service/service_set.ts";

/** A set with short limits and the real clock. */
export function newServiceSet(): ServiceSet {
  return new ServiceSet({
    clock: { nowMs: () => performance.now() },
    log: silentLog,
    limits: {
      connectTimeoutMs: 2_000,
      headTimeoutMs: 10_000,
      firstTokenTimeoutMs: 60_000,
      idleTimeoutMs: 10_000,
      connectionsMax: 64,
    },
  });
}

/** A service that is checked 20 times a second, in place of every two seconds. */
export function quickService(fields: Readonly<Record<string, unknown>>): ServiceConfig {
  return parseServiceRequest({
    name: "llm",
    health_interval: "50ms",
    model_refresh: "50ms",
    ...fields,
  });
}

/**
 * Waits until the claims of a set are as wanted, those of now included.
 * @throws {Error} When they are not in time; shows what they are.
 */
export function claimsUntil(
  set: ServiceSet,
  isWanted: (claims: readonly ServiceClaim[]) => boolean,
  withinMs = 5_000,
): Promise<readonly ServiceClaim[]> {
  const { promise, resolve, reject } = Promise.withResolvers<readonly ServiceClaim[]>();
  const look = () => {
    if (isWanted(set.claims())) finish(() => resolve(set.claims()));
  };
  const late = () => {
    const now = JSON.stringify({ claims: set.claims(), list: set.list() });
    finish(() => reject(new Error(`The claims were not as wanted within ${withinMs} ms: ${now}`)));
  };
  const unsubscribe = set.subscribe(look);
  const timer = setTimeout(late, withinMs);
  const finish = (settle: () => void) => {
    clearTimeout(timer);
    unsubscribe();
    settle();
  };
  look();
  return promise;
}

/** Waits until the claims change once more. */
export async function nextClaims(set: ServiceSet): Promise<readonly ServiceClaim[]> {
  const before = JSON.stringify(set.claims());
  return await claimsUntil(set, (claims) => JSON.stringify(claims) !== before);
}
