// Is a heap collected while its thread rests, and never while it works?
import { deepEqual, equal } from "node:assert/strict";
import { MiB } from "../../../lib/base/units.ts";
import { GarbagePlan } from "../../../lib/platform/garbage_plan.ts";

const rest = { openCount: 0, startedCount: 0 };

Deno.test("GarbagePlan collects at the first rest, once more after a while, then when the heap has grown", () => {
  const plan = new GarbagePlan(0);
  let heapBytes = 50 * MiB;
  const due: number[] = [];
  for (let s = 1; s <= 40; s++) {
    if (s === 30) heapBytes += 33 * MiB;
    if (!plan.isDue(rest, heapBytes, s * 1_000)) continue;
    due.push(s);
    plan.collected(heapBytes = 40 * MiB);
  }
  deepEqual(due, [2, 15, 30]);
});

Deno.test("GarbagePlan leaves a thread alone that works, however short its work and large its heap", () => {
  const plan = new GarbagePlan(0);
  for (let s = 1; s <= 20; s++) {
    equal(plan.isDue({ openCount: s % 2, startedCount: 7 }, 500 * MiB, s * 1_000), false);
  }
  for (let s = 21; s <= 40; s++) {
    equal(plan.isDue({ openCount: 0, startedCount: s }, 500 * MiB, s * 1_000), false);
  }
  const done = { openCount: 0, startedCount: 40 };
  equal(plan.isDue(done, 500 * MiB, 41_000), true);
});
