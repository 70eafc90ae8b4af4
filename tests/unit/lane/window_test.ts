// How much may be on its way to one reader?
import { equal, ok } from "node:assert/strict";
import fc from "fast-check";
import { KiB, MiB } from "../../../lib/base/units.ts";
import {
  ReceiveWindow,
  WindowBudget,
  windowMaxBytes,
  windowMinBytes,
  windowsBytesMax,
  windowStartBytes,
} from "../../../lib/lane/window.ts";

function windowOf(budget: WindowBudget): ReceiveWindow {
  return new ReceiveWindow(budget.reserve(), budget, 0);
}

Deno.test("WindowBudget gives small windows in its last quarter and none beyond", () => {
  const budget = new WindowBudget(MiB);
  const given: number[] = [];
  for (let bytes = budget.reserve(); bytes > 0; bytes = budget.reserve()) given.push(bytes);
  equal(given.filter((bytes) => bytes === windowStartBytes).length, 12);
  equal(given.filter((bytes) => bytes === windowMinBytes).length, 16);
  equal(budget.reservedBytes, MiB);
  equal(budget.grow(1), false);
});

Deno.test("ReceiveWindow grants half a window at a time, when its reader is slow", () => {
  const window = windowOf(new WindowBudget());
  equal(window.received(64 * KiB), true);
  equal(window.consumed(31 * KiB, 500, 0), 0);
  equal(window.consumed(1 * KiB, 500, 0), 32 * KiB);
});

Deno.test("ReceiveWindow grows to 4 MiB, when drained within two round trips", () => {
  const budget = new WindowBudget();
  const window = windowOf(budget);
  let credit = windowStartBytes;
  for (let nowMs = 80; credit < windowMaxBytes && nowMs < 10_000; nowMs += 80) {
    equal(window.received(credit), true);
    credit = window.consumed(credit, nowMs, 80);
  }
  equal(credit, windowMaxBytes);
  equal(budget.reservedBytes, windowMaxBytes);
  ok(window.consumed(4 * MiB, 1_000, 80) <= windowMaxBytes);
});

Deno.test("ReceiveWindow shrinks to 16 KiB, when undrained for a second, and grants no less in the end", () => {
  const budget = new WindowBudget();
  const window = windowOf(budget);
  let [credit, nowMs] = [windowStartBytes as number, 0];
  for (let turn = 0; turn < 20; turn++) {
    equal(window.received(credit), true);
    let grant = 0;
    while (grant === 0) grant = window.consumed(4 * KiB, nowMs += 1_500, 80);
    credit = grant;
  }
  equal(budget.reservedBytes, windowMinBytes);
});

Deno.test("ReceiveWindow keeps a large window nearly full, so that a long way carries what it allows", () => {
  const budget = new WindowBudget();
  const window = windowOf(budget);
  for (let granted = windowStartBytes; budget.reservedBytes < windowMaxBytes;) {
    window.received(granted);
    granted = window.consumed(granted, 0, 80);
  }
  // A reader keeps pace with what arrives; before the sender hears of it, no more than 256 KiB may lie idle.
  equal(window.consumed(255 * KiB, 100, 80), 0);
  equal(window.consumed(1 * KiB, 100, 80), 256 * KiB);
});

Deno.test("ReceiveWindow shrinks from 4 MiB too, when its reader has become slow", () => {
  const budget = new WindowBudget();
  const window = windowOf(budget);
  let [credit, unread, nowMs] = [windowStartBytes as number, 0, 0];
  const read = (bytes: number, passMs: number) => {
    equal(window.received(credit), true);
    unread += credit - bytes;
    credit = window.consumed(bytes, nowMs += passMs, 80);
  };
  while (budget.reservedBytes < windowMaxBytes) read(credit, 1);
  while (budget.reservedBytes > windowMinBytes) read(8 * KiB, 1_000);
  ok(nowMs < 1_200_000, `after ${nowMs} ms`);
  ok(unread <= windowMinBytes);
});

Deno.test("ReceiveWindow catches a sender who overruns its credit", () => {
  const window = windowOf(new WindowBudget());
  equal(window.received(windowStartBytes), true);
  equal(window.received(1), false);
});

Deno.test("ReceiveWindow never has more in flight than its window, nor stops for ever, for any reader", () => {
  const step = fc.record({
    take: fc.integer({ min: 1, max: 200 * KiB }),
    passMs: fc.oneof(fc.integer({ min: 0, max: 20 }), fc.integer({ min: 0, max: 3_000 })),
  });
  fc.assert(
    fc.property(
      fc.array(step, { minLength: 1, maxLength: 200 }),
      fc.boolean(),
      (steps, isShort) => {
        const budget = new WindowBudget(isShort ? 128 * KiB : windowsBytesMax);
        const window = windowOf(budget);
        let credit = budget.reservedBytes, unread = 0, nowMs = 0;
        for (const { take, passMs } of steps) {
          nowMs += passMs;
          equal(window.received(credit), true);
          unread += credit;
          credit = 0;
          ok(unread <= windowMaxBytes);
          ok(unread <= budget.reservedBytes);
          const bytes = Math.min(take, unread);
          unread -= bytes;
          credit += window.consumed(bytes, nowMs, 5);
          // A reader who took everything can always go on.
          if (unread === 0) ok(credit > 0, "no credit although everything was read");
        }
        window.close();
        equal(budget.reservedBytes, 0);
      },
    ),
    { numRuns: 300 },
  );
});
