import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import fc from "fast-check";
import { OtelaError } from "../../../lib/base/errors.ts";
import { nextEpoch } from "../../../lib/identity/epoch_file.ts";
import { MemoryFiles } from "./memory_files.ts";

const path = "/keys/epoch";
const nowMs = () => 1_800_000_000_000;

Deno.test("nextEpoch begins at 1, goes up by one, and outbids what peers have seen", async () => {
  const files = new MemoryFiles();
  const epochs = [];
  for (const seen of [0, 0, 41, 7]) {
    epochs.push((await nextEpoch(path, seen, { files, nowMs })).epoch);
  }
  deepEqual(epochs, [1, 2, 42, 43]);
  deepEqual(files.paths(), [path]);
});

Deno.test("nextEpoch writes beside, then renames, then makes the name durable", async () => {
  const files = new MemoryFiles();
  await nextEpoch(path, 0, { files, nowMs });
  const steps = files.calls.map((call) => call.split(" ")[0]);
  deepEqual(steps, ["read", "makeDirectory", "create", "rename", "syncDirectory"]);
});

Deno.test("nextEpoch escapes above every counted epoch when the file is damaged, and says so", async () => {
  for (
    const content of ["", "x", "-1", "1.5", "9007199254740991", "99999999999999999", "1".repeat(99)]
  ) {
    const files = new MemoryFiles();
    files.put(path, content);
    const { epoch, warnings } = await nextEpoch(path, 0, { files, nowMs });
    equal(epoch, 1_800_000_001);
    match(warnings[0], /was damaged/);
    equal((await nextEpoch(path, 0, { files, nowMs })).epoch, epoch + 1);
  }
});

Deno.test("nextEpoch never goes back, whatever happens to the file, as long as peers remember", async () => {
  const steps = fc.array(fc.constantFrom("start", "damage", "remove", "crash"), { maxLength: 30 });
  await fc.assert(fc.asyncProperty(steps, async (steps) => {
    const files = new MemoryFiles();
    let seen = 0;
    for (const step of steps) {
      if (step === "damage") files.put(path, "?");
      if (step === "remove") await files.remove(path);
      if (step === "crash") {
        files.fail("rename", "other", 1);
        await rejects(nextEpoch(path, seen, { files, nowMs }));
      }
      const { epoch } = await nextEpoch(path, seen, { files, nowMs });
      ok(epoch > seen);
      seen = epoch;
    }
  }));
});

Deno.test("nextEpoch refuses to start where it cannot keep the epoch", async () => {
  for (const operation of ["create", "rename"] as const) {
    const files = new MemoryFiles();
    files.put(path, "5\n");
    files.fail(operation, "denied");
    const failed = (error: unknown) =>
      error instanceof OtelaError && error.code === "state_unusable" &&
      error.message.includes(path);
    await rejects(nextEpoch(path, 0, { files, nowMs }), failed);
    equal(files.text(path), "5\n");
    deepEqual(files.paths(), [path]);
  }
});
