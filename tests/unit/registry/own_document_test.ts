import { deepEqual, equal, ok } from "node:assert/strict";
import fc from "fast-check";
import { startAutomerge } from "../../../lib/registry/automerge.ts";
import type { Claim } from "../../../lib/registry/claim.ts";
import { loadClaim } from "../../../lib/registry/load_claim.ts";
import { OwnDocument } from "../../../lib/registry/own_document.ts";
import { claimOf } from "../../support/registry_node.ts";

await startAutomerge();
const origin = { host: "nid001", uptimeMs: 12 };
const actor = "ab".repeat(16);

const groups = fc.uniqueArray(fc.constantFrom("all", "model=a", "model=b", "model=c", "model=*"));
const service = fc.record({
  name: fc.constantFrom("llm", "asr", "rerank"),
  identityGroups: groups,
  state: fc.constantFrom("ready" as const, "draining" as const),
  capacity: fc.nat(9),
}).map((chosen) => ({ ...claimOf().services[0], ...chosen }));
const claim: fc.Arbitrary<Claim> = fc.record({
  services: fc.uniqueArray(service, { selector: ({ name }) => name }),
  addresses: fc.array(fc.constantFrom("/ip4/1.1.1.1/tcp/1", "/ip6/::1/tcp/1"), { maxLength: 4 }),
  labels: fc.dictionary(
    fc.constantFrom("a", "b", "constructor", "1"),
    fc.constantFrom("x", "y", ""),
  ),
}).map((chosen) => claimOf(chosen));

Deno.test("OwnDocument: says exactly the last claim, whatever was written before", () => {
  fc.assert(
    fc.property(fc.array(claim, { minLength: 1, maxLength: 6 }), (claims) => {
      const document = new OwnDocument(claims[0], origin, actor);
      for (const next of claims) document.write(next);
      const loaded = loadClaim(document.save());
      document.end();
      deepEqual(loaded, { claim: claims.at(-1), origin });
    }),
    { numRuns: 40 },
  );
});

Deno.test("OwnDocument: equal inputs give equal bytes", () => {
  const make = () => {
    const document = new OwnDocument(claimOf(), origin, actor);
    document.write(claimOf({ labels: { z: "1", a: "2" } }));
    return document.save();
  };
  deepEqual(make(), make());
});

Deno.test("OwnDocument: writes only what differs", () => {
  const document = new OwnDocument(claimOf(), origin, actor);
  equal(document.write(claimOf()), false);
  const before = document.history;
  equal(document.write(claimOf({ labels: { cluster: "daint" } })), true);
  const after = document.history;
  equal(after.changeCount, before.changeCount + 1);
  equal(after.operationCount, before.operationCount + 1);
});

Deno.test("OwnDocument: an honest claim takes less than a kilobyte", () => {
  const { byteLength } = new OwnDocument(claimOf(), origin, actor).save();
  ok(byteLength < 1_024, `${byteLength}`);
});
