import { deepEqual, equal, ok, throws } from "node:assert/strict";
import { OtelaError } from "../../../lib/base/errors.ts";
import type { Claim, ServiceClaim } from "../../../lib/registry/claim.ts";
import { decodeClaim } from "../../../lib/registry/decode_claim.ts";
import { claimOf } from "../../support/registry_node.ts";
import { identityNamed } from "../../support/registry_keys.ts";

const [service] = claimOf().services;

function withService(changes: Partial<ServiceClaim>): Partial<Claim> {
  return { services: [{ ...service, ...changes }] };
}

/** Names the field that a claim is refused for; `undefined` when it is taken. */
function refusedField(changes: Record<string, unknown>): unknown {
  try {
    decodeClaim({ ...claimOf(), ...changes });
    return undefined;
  } catch (error) {
    ok(error instanceof OtelaError && error.code === "envelope_invalid", String(error));
    return error.fields.field;
  }
}

Deno.test("decodeClaim: gives back a claim within bounds, frozen to the ground", () => {
  const claim = decodeClaim(structuredClone(claimOf()));
  deepEqual(claim, claimOf());
  const unfrozen: unknown[] = [];
  const visit = (value: unknown) => {
    if (typeof value !== "object" || value === null) return;
    if (!Object.isFrozen(value)) unfrozen.push(value);
    Object.values(value).forEach(visit);
  };
  visit(claim);
  deepEqual(unfrozen, []);
});

Deno.test("decodeClaim: leaves out what it does not know, and lets no key reach a prototype", () => {
  const claim = decodeClaim({ ...claimOf(), labels: { constructor: "x" }, future: { a: 1 } });
  deepEqual(claim, claimOf({ labels: { constructor: "x" } as Claim["labels"] }));
  equal(Object.getPrototypeOf(claim.labels), Object.prototype);
  equal(refusedField({ labels: JSON.parse('{"__proto__": "evil"}') }), "labels");
  equal(refusedField({ labels: { "": "x" } }), "labels");
});

Deno.test("decodeClaim: takes the largest claim and refuses the next larger one", () => {
  const groups = (count: number) => Array.from({ length: count }, (_, at) => `model=m${at}`);
  equal(refusedField(withService({ identityGroups: groups(256) })), undefined);
  equal(refusedField(withService({ identityGroups: groups(257) })), "identityGroups");
  const two = [
    { ...service, identityGroups: groups(128) },
    { ...service, name: "b", identityGroups: groups(129) },
  ];
  equal(refusedField({ services: two }), "identityGroups");
  const labels = (count: number) => Object.fromEntries(groups(count).map((key) => [key, "x"]));
  equal(refusedField({ labels: labels(64) }), undefined);
  equal(refusedField({ labels: labels(65) }), "labels");
  equal(refusedField({ labels: { a: "x".repeat(256) } }), undefined);
  equal(refusedField({ labels: { a: "x".repeat(257) } }), "labels");
  equal(refusedField({ addresses: new Array(33).fill("/ip4/127.0.0.1") }), "addresses");
});

Deno.test("decodeClaim: names the field that is not what it must be", () => {
  const rows: [string, Record<string, unknown>][] = [
    ["role", { role: "king" }],
    ["role", { role: undefined }],
    ["addresses", { addresses: "x" }],
    ["addresses", { addresses: [1] }],
    ["addresses", { addresses: ["line\nbreak"] }],
    ["addresses", { addresses: ["\ud800"] }],
    ["relays", { relays: ["nobody"] }],
    ["services", { services: {} }],
    ["services", { services: [service, service] }],
    ["name", withService({ name: "a b" })],
    ["name", withService({ name: "" })],
    ["name", withService({ name: "n".repeat(81) })],
    ["identityGroups", withService({ identityGroups: ["model"] })],
    ["identityGroups", withService({ identityGroups: ["=x"] })],
    ["state", withService({ state: "gone" as "ready" })],
    ["engine", withService({ engine: null as unknown as ServiceClaim["engine"] })],
    ["continues", withService({ engine: { ...service.engine, continues: 1 as unknown as true } })],
    ["capacity", withService({ capacity: -1 })],
    ["capacity", withService({ capacity: NaN })],
    ["retry", withService({ retry: "maybe" as "safe" })],
    ["hardware", { hardware: [] }],
    ["cpuCount", { hardware: { ...claimOf().hardware, cpuCount: 1.5 } }],
    ["memoryUsedMiB", {
      hardware: { ...claimOf().hardware, gpus: [{ name: "x", memoryTotalMiB: null }] },
    }],
    ["wallet", { wallet: 7 }],
    ["versions", { versions: null }],
    ["document", { deep: { a: { b: { c: { d: { e: {} } } } } } }],
  ];
  for (const [field, changes] of rows) equal(refusedField(changes), field, JSON.stringify(changes));
  throws(() => decodeClaim(null), OtelaError);
});

Deno.test("decodeClaim: takes relays, unknown GPU memory and every kind of group", () => {
  equal(refusedField({ relays: [identityNamed("relay").peerId] }), undefined);
  const gpu = { name: "x", memoryTotalMiB: null, memoryUsedMiB: null };
  equal(refusedField({ hardware: { cpuCount: 1, memoryMiB: 1, gpus: [gpu] } }), undefined);
  equal(
    refusedField(withService({ identityGroups: ["all", "model=*", "model=a/b c"] })),
    undefined,
  );
});
