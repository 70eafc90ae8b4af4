// What does this node say of one of its services?
import { type Bytes, KiB } from "../base/units.ts";
import type { ServiceClaim } from "../registry/claim.ts";
import { claimBounds } from "../registry/decode_claim.ts";
import type { EngineFacts } from "./engine_detect.ts";
import type { ServiceRules } from "./service_rules.ts";

/** Other peers refuse a whole claim for one group of another form. */
const groupShape = /^(all|[^=\s]+=\S.*)$/;
// deno-lint-ignore no-control-regex -- Control characters would reach terminals and logs.
const controlCharacter = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;

const encoder = new TextEncoder();

/** Whether a text may stand among the identity groups of a claim. */
export function isIdentityGroup(text: string): boolean {
  return text.length <= claimBounds.textLengthMax && groupShape.test(text) &&
    !controlCharacter.test(text) && text.isWellFormed();
}

/**
 * The groups of a service: the configured ones, then its models in alphabetical order, each once. What cannot
 * stand in a claim is left out, and so is what exceeds its bound: first the last models.
 * @param models Model ids as the engine lists them.
 */
export function identityGroupsOf(
  configured: readonly string[],
  models: readonly string[],
): readonly string[] {
  const listed = models.map((id) => `model=${id}`).sort();
  const groups = new Set([...configured, ...listed].filter(isIdentityGroup));
  return [...groups].slice(0, claimBounds.identityGroupsMax);
}

/** The claim of a service that can answer now. */
export function serviceClaimOf(
  rules: ServiceRules,
  models: readonly string[],
  engine: EngineFacts,
): ServiceClaim {
  return {
    name: rules.name,
    identityGroups: identityGroupsOf(rules.identityGroups, models),
    state: "ready",
    engine: {
      kind: rules.engine.kind ?? engine.kind,
      version: engine.version,
      continues: rules.engine.continues ?? engine.continues,
    },
    capacity: rules.capacity > 0 ? rules.capacity : engine.slots,
    retry: rules.retry,
  };
}

/** Whether two claims say the same, so that nothing has to be published. */
export function isSameClaim(a: ServiceClaim | null, b: ServiceClaim | null): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** Of all groups of a node together, so that the rest of a 16 KiB claim has room beside them. Guess. */
const groupsBytesMax: Bytes = 10 * KiB;

/**
 * All services of a node, by name, cut so that the node's whole claim keeps its bounds: one that breaks them
 * is refused by every other peer. The services at the end of the alphabet lose groups first.
 */
export function boundServiceClaims(claims: readonly ServiceClaim[]): readonly ServiceClaim[] {
  let countLeft: number = claimBounds.identityGroupsMax;
  let bytesLeft = groupsBytesMax;
  const sorted = [...claims].sort((a, b) => a.name < b.name ? -1 : 1);
  return sorted.slice(0, claimBounds.servicesMax).map((claim) => {
    const kept: string[] = [];
    for (const group of claim.identityGroups) {
      bytesLeft -= encoder.encode(group).byteLength;
      if (countLeft === 0 || bytesLeft < 0) break;
      kept.push(group);
      countLeft--;
    }
    return kept.length === claim.identityGroups.length ? claim : { ...claim, identityGroups: kept };
  });
}
