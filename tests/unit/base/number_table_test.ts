// Does the table keep what is in it, and nothing else?
import { deepEqual, equal } from "node:assert/strict";
import fc from "fast-check";
import { NumberTable } from "../../../lib/base/number_table.ts";

type Step = { readonly kind: "add" | "get" | "delete" | "clear"; readonly at: number };

Deno.test("NumberTable holds the same as a Map, whatever is added and deleted", () => {
  const step: fc.Arbitrary<Step> = fc.record({
    kind: fc.constantFrom("add", "add", "add", "get", "delete", "delete", "clear"),
    at: fc.nat(40),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const table = new NumberTable<string>();
      const model = new Map<number, string>();
      for (const [index, { kind, at }] of steps.entries()) {
        if (kind === "add") model.set(table.add(`value ${index}`), `value ${index}`);
        else if (kind === "get") equal(table.get(at), model.get(at));
        else if (kind === "delete") equal(table.delete(at), model.delete(at));
        else {
          table.clear();
          model.clear();
        }
        equal(table.size, model.size);
        deepEqual(table.values(), [...model.values()]);
      }
    }),
    { numRuns: 500 },
  );
});

Deno.test("NumberTable finds a long-lived entry after a hundred thousand others came and went", () => {
  const table = new NumberTable<string>();
  table.set(7, "stays");
  for (let key = 8; key < 100_008; key++) {
    table.set(key, "goes");
    table.delete(key);
  }
  equal(table.get(7), "stays");
  deepEqual(table.values(), ["stays"]);
});

Deno.test("NumberTable has no entries that nobody set", () => {
  const table = new NumberTable<string>();
  equal(table.get(0), undefined);
  equal(table.delete(1), false);
  equal(table.size, 0);
});
