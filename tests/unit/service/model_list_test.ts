import { deepEqual, throws } from "node:assert/strict";
import fc from "fast-check";
import { parseModelList } from "../../../lib/service/model_list.ts";

Deno.test("parseModelList reads ids in order, each once, and who owns the first", () => {
  const data = [{ id: "b", owned_by: "vllm" }, { id: "a" }, { id: "b" }, { id: 7 }, null, {
    id: "",
  }];
  deepEqual(parseModelList({ object: "list", data }), { models: ["a", "b"], ownedBy: "vllm" });
});

Deno.test("parseModelList takes an engine that has no model yet", () => {
  deepEqual(parseModelList({ data: [] }), { models: [], ownedBy: "" });
});

Deno.test("parseModelList refuses what is no list, and lists beyond any honest size", () => {
  const many = Array.from({ length: 5_000 }, (_, i) => ({ id: `m${i}` }));
  for (const value of [null, 1, "x", [], {}, { data: {} }, { data: null }, { data: many }]) {
    throws(() => parseModelList(value), { code: "worker_failed" });
  }
});

Deno.test("parseModelList gives texts or throws OtelaError, for any JSON", () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => {
    try {
      const { models, ownedBy } = parseModelList({
        data: [value, ...Array.isArray(value) ? value : []],
      });
      deepEqual([...models, ownedBy].every((text) => typeof text === "string"), true);
    } catch (error) {
      deepEqual((error as { code?: string }).code, "worker_failed");
    }
  }));
});
