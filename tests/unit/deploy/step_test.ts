import { deepEqual, equal } from "node:assert/strict";
import { countOf, failingPart } from "../../../deploy/checks/step.ts";

Deno.test("countOf takes the counts from the closing lines of deno test", () => {
  deepEqual(countOf("a ... ok (1ms)\n\nok | 34 passed | 0 failed (1s)\n", true), {
    passed: 34,
    failed: 0,
  });
  deepEqual(
    countOf("\nFAILED | 21 passed (7 steps) | 1 failed (2 steps) | 3 ignored (198ms)\n", false),
    { passed: 21, failed: 1 },
  );
});

Deno.test("countOf counts a step without tests as one", () => {
  deepEqual(countOf("Checked 26 files\n", true), { passed: 1, failed: 0 });
  deepEqual(countOf("error: Found 1 not formatted file\n", false), { passed: 0, failed: 1 });
});

Deno.test("countOf counts a run that failed without a failed test", () => {
  deepEqual(countOf("ok | 3 passed | 0 failed (1s)\nerror: leak\n", false), {
    passed: 3,
    failed: 1,
  });
});

Deno.test("failingPart begins where the errors are listed", () => {
  equal(failingPart("a ... ok\n\n ERRORS \n\nb => x"), "\n ERRORS \n\nb => x");
  equal(failingPart("error: x"), "error: x");
});
