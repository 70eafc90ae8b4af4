import { deepEqual, equal } from "node:assert/strict";
import { startAutomerge } from "../../../lib/registry/automerge.ts";
import { claimOf, counted, published, RegistryNode } from "../../support/registry_node.ts";

await startAutomerge();

Deno.test("Registry: shows its own claim at once, and others show it when its envelope arrives", () => {
  const a = new RegistryNode({ name: "a" });
  const b = new RegistryNode({ name: "b" });
  const effects = a.set(claimOf());
  deepEqual(effects.map((effect) => effect.type), ["publish", "announceChanged"]);
  deepEqual(a.registry.entries.get(a.peerId)?.claim, claimOf());
  const [envelope] = published(effects);
  deepEqual(b.receive(envelope).map((effect) => effect.type), ["announceChanged"]);
  deepEqual(b.registry.entries.get(a.peerId)?.claim, claimOf());
  equal(a.registry.root, b.registry.root);
  deepEqual(counted(b.receive(envelope)), ["stale"]);
});
