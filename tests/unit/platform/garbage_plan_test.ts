// Is a heap collected while nobody needs its thread, and its code left warm otherwise?
import { deepEqual } from "node:assert/strict";
import { MiB } from "../../../lib/base/units.ts";
import { GarbagePlan, type ThreadWork } from "../../../lib/platform/garbage_plan.ts";

/** Seconds in which a plan was due that was asked every second. */
function dueSeconds(
  untilS: number,
  workAt: (s: number) => ThreadWork,
  heapBytesAt: (s: number) => number,
): number[] {
  const plan = new GarbagePlan(0);
  const due: number[] = [];
  for (let s = 1; s <= untilS; s++) {
    if (!plan.isDue(workAt(s), heapBytesAt(s), s * 1_000)) continue;
    due.push(s);
    plan.collected(40 * MiB);
  }
  return due;
}

const unworked = { openCount: 0, startedCount: 0 };

Deno.test("GarbagePlan collects while code is cold: at the first rest, and once more after a while", () => {
  deepEqual(dueSeconds(200, () => unworked, () => 500 * MiB), [2, 15]);
  const someWork = (s: number) => ({ openCount: s === 4 ? 1 : 0, startedCount: Math.min(s, 4) });
  deepEqual(dueSeconds(200, someWork, () => 500 * MiB), [5, 15]);
});

Deno.test("GarbagePlan leaves a thread alone that works, however short its work and large its heap", () => {
  const shortWork = (s: number) => ({ openCount: s % 2, startedCount: 500 });
  deepEqual(dueSeconds(200, shortWork, () => 500 * MiB), []);
  const betweenLooks = (s: number) => ({ openCount: 0, startedCount: 500 + s });
  deepEqual(dueSeconds(200, betweenLooks, () => 500 * MiB), []);
});

Deno.test("GarbagePlan collects what much work has left once the thread has rested for a minute", () => {
  const worksUntil30 = (s: number) => ({ openCount: s < 30 ? 1 : 0, startedCount: 500 });
  deepEqual(dueSeconds(200, worksUntil30, (s) => s === 150 ? 105 * MiB : 65 * MiB), [89, 150]);
});

Deno.test("GarbagePlan leaves the code of a resting thread warm when there is little to gain", () => {
  const workedMuch = (s: number) => ({ openCount: 0, startedCount: s < 20 ? 0 : 500 });
  deepEqual(dueSeconds(200, workedMuch, () => 103 * MiB), [2, 15]);
});
