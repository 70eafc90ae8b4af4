import { deepEqual, equal } from "node:assert/strict";
import fc from "fast-check";
import type { ServiceClaim } from "../../../lib/registry/claim.ts";
import { decodeClaim } from "../../../lib/registry/decode_claim.ts";
import { unknownEngine } from "../../../lib/service/engine_detect.ts";
import {
  boundServiceClaims,
  identityGroupsOf,
  isIdentityGroup,
  isSameClaim,
  serviceClaimOf,
} from "../../../lib/service/service_claim.ts";

const rules = {
  name: "llm",
  healthIntervalMs: 1,
  healthFailures: 1,
  modelRefreshMs: 1,
  identityGroups: [],
  retry: "safe" as const,
  capacity: 0,
  engine: { kind: null, continues: null },
};
const claimNamed = (name: string, groups: number): ServiceClaim => ({
  ...serviceClaimOf({ ...rules, name }, [], unknownEngine),
  identityGroups: Array.from({ length: groups }, (_, i) => `model=${i}`),
});
const nodeClaim = (services: readonly ServiceClaim[]) => ({
  role: "worker",
  addresses: [],
  relays: [],
  services,
  hardware: { cpuCount: 1, memoryMiB: 1, gpus: [] },
  labels: {},
  wallet: "",
  versions: {},
});

Deno.test("B59: identityGroupsOf puts configured groups first, then models in order, each once", () => {
  deepEqual(identityGroupsOf(["all", "model=b"], ["b", "a", "a"]), ["all", "model=b", "model=a"]);
});

Deno.test("identityGroupsOf leaves out what would make others refuse the whole claim", () => {
  const models = ["ok", "line\nbreak", " space", "x".repeat(300), "\ud800"];
  deepEqual(identityGroupsOf(["no-equals"], models), ["model=ok"]);
});

Deno.test("identityGroupsOf keeps configured groups when there are too many models", () => {
  const models = Array.from({ length: 1_000 }, (_, i) => `m${String(i).padStart(4, "0")}`);
  const groups = identityGroupsOf(["all"], models);
  deepEqual([groups.length, groups[0], groups[1]], [256, "all", "model=m0000"]);
});

Deno.test("isIdentityGroup accepts the three forms of the original", () => {
  deepEqual(
    ["all", "model=*", "model=a=b", "key=a b", "model=", "=a", "free"].map(isIdentityGroup),
    [
      true,
      true,
      true,
      true,
      false,
      false,
      false,
    ],
  );
});

Deno.test("identityGroupsOf makes only groups that other peers accept, whatever an engine lists", () => {
  const unit = fc.constantFrom("binary", "grapheme") as fc.Arbitrary<"binary" | "grapheme">;
  const text = unit.chain((unit) => fc.string({ unit, maxLength: 300 }));
  fc.assert(fc.property(fc.array(text), fc.array(text), (configured, models) => {
    const service = serviceClaimOf({ ...rules, identityGroups: configured }, models, unknownEngine);
    decodeClaim(nodeClaim([service]));
  }));
});

Deno.test("boundServiceClaims keeps the node's whole claim within what other peers accept", () => {
  const claims = boundServiceClaims([
    claimNamed("b", 200),
    claimNamed("c", 5),
    claimNamed("a", 100),
  ]);
  deepEqual(claims.map((claim) => [claim.name, claim.identityGroups.length]), [
    ["a", 100],
    ["b", 156],
    ["c", 0],
  ]);
  decodeClaim(nodeClaim(claims));
});

Deno.test("boundServiceClaims leaves room for the rest of a claim when names are long", () => {
  const identityGroups = Array.from({ length: 100 }, (_, i) => `model=${i}`.padEnd(250, "x"));
  const [claim] = boundServiceClaims([{ ...claimNamed("a", 0), identityGroups }]);
  equal(claim.identityGroups.length, 40);
});

Deno.test("isSameClaim sees every difference", () => {
  const claim = claimNamed("a", 2);
  equal(isSameClaim(claim, structuredClone(claim)), true);
  equal(isSameClaim(claim, { ...claim, capacity: 1 }), false);
  equal(isSameClaim(claim, null), false);
  equal(isSameClaim(null, null), true);
});
