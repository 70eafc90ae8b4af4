import { equal, throws } from "node:assert/strict";
import { isServiceName, parseServiceName } from "../../../lib/routing/names.ts";

Deno.test("isServiceName keeps the reference's rule", () => {
  for (const name of ["llm", "a", "0", "My-Service_1.2", "a".repeat(80)]) {
    equal(isServiceName(name), true);
  }
  for (const name of ["", "-a", ".a", "a/b", "a b", " llm", "llm\n", "é", "a".repeat(81)]) {
    equal(isServiceName(name), false, name);
  }
});

Deno.test("parseServiceName says what must hold and quotes a bounded part", () => {
  equal(parseServiceName("llm"), "llm");
  throws(() => parseServiceName("a/" + "b".repeat(500)), (error: Error & { code?: string }) => {
    return error.code === "bad_request" && error.message.length < 300 &&
      error.message.includes('"a/bb');
  });
});
