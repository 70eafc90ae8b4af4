// Do bodies arrive whole, and does all memory come back, whatever the order of things?
import { equal, ok } from "node:assert/strict";
import fc from "fast-check";
import { KiB, MiB } from "../../../lib/base/units.ts";
import { LanePair, type Served } from "../../support/lane_pair.ts";
import { pour, pourAnswer } from "../../support/lane_pour.ts";
import { seededRandom } from "../../../lib/sim/seeded_random.ts";

Deno.test("bodies arrive whole both ways and all memory comes back, for any schedule", () => {
  const plan = fc.record({
    up: fc.integer({ min: 0, max: 400 * KiB }),
    down: fc.integer({ min: 0, max: 400 * KiB }),
    chunk: fc.integer({ min: 1_000, max: 100 * KiB }),
    take: fc.integer({ min: 500, max: 200 * KiB }),
    passMs: fc.integer({ min: 0, max: 700 }),
    fate: fc.constantFrom("whole", "whole", "whole", "cancel", "fail"),
  });
  fc.assert(
    fc.property(
      fc.array(plan, { minLength: 1, maxLength: 6 }),
      fc.record({
        unsentBytesMax: fc.constantFrom(1, 20 * KiB, 2 * MiB),
        cut: fc.integer({ min: 100, max: 50_000 }),
        seed: fc.integer(),
      }),
      (plans, { unsentBytesMax, cut, seed }) => {
        const random = seededRandom(seed);
        const pair = new LanePair({
          unsentBytesMax,
          cutAt: () => 1 + Math.floor(random() * cut),
        });
        const runs = plans.map((one) => run(pair, one));
        for (let turn = 0; turn < 10_000 && runs.some((run) => !run.isOver()); turn++) {
          pair.nowMs += 1 + Math.floor(random() * 20);
          pair.step();
          for (const one of runs) if (random() < 0.5) one.act(turn);
        }
        pair.settle();
        for (const one of runs) one.check();
        equal(pair.reservedBytes, 0);
        equal(pair.requester.openCount + pair.responder.openCount, 0);
      },
    ),
    { numRuns: 60 },
  );
});

type Plan = {
  up: number;
  down: number;
  chunk: number;
  take: number;
  passMs: number;
  fate: string;
};

/** Drives one exchange by its plan. */
function run(pair: LanePair, plan: Plan) {
  const { exchange, heard } = pair.open(undefined, false);
  let served: Served | undefined;
  let upRead = 0, downRead = 0, isStopped = false, cameAtMs = 0;
  pour(plan.up, plan.chunk, (c) => exchange.sendBody(c), () => exchange.endBody(), heard);
  const isEnded = () => heard.events.some((event) => /^(end|fail)|^head.* end /.test(event));
  return {
    isOver: () => isStopped || isEnded(),
    act(turn: number): void {
      if (!served) {
        served = pair.served.find((one) => one.exchange.id === exchange.id);
        if (served) pourAnswer(served, plan.down, plan.chunk);
        return;
      }
      if (pair.nowMs - cameAtMs < plan.passMs / 20) return;
      cameAtMs = pair.nowMs;
      if (turn > 5 && plan.fate === "cancel" && !isStopped) {
        isStopped = true;
        return exchange.cancel();
      }
      if (turn > 5 && plan.fate === "fail") {
        return served.exchange.fail("engine_failed", "sent", "broke");
      }
      const up = Math.min(plan.take, served.heard.bodyBytes - upRead);
      upRead += up;
      if (up > 0) served.exchange.consumed(up, pair.nowMs);
      const down = Math.min(plan.take, heard.bodyBytes - downRead);
      downRead += down;
      if (down > 0) exchange.consumed(down, pair.nowMs);
    },
    check(): void {
      ok(
        isStopped || isEnded(),
        `stands still: ${JSON.stringify(plan)} read ${upRead} ${downRead}`,
      );
      if (plan.fate !== "whole") return;
      equal(heard.bodyBytes, plan.down);
    },
  };
}
