import { equal } from "node:assert/strict";
import fc from "fast-check";
import {
  failuresMax,
  Outliers,
  outliersMax,
  rampMs,
  restFirstMs,
  restLastMs,
} from "../../../lib/routing/outliers.ts";
import { candidate } from "./fixtures.ts";

const seat = candidate(1);

function outAt(nowMs: number): Outliers {
  const outliers = new Outliers();
  for (let count = 0; count < failuresMax; count++) outliers.failed(seat, nowMs);
  return outliers;
}

Deno.test("C037: Outliers takes a seat out after its failures in a row, and lets one trial through per rest", () => {
  const outliers = new Outliers();
  outliers.failed(seat, 0);
  outliers.failed(seat, 1);
  outliers.succeeded(seat, 2); // Not in a row.
  outliers.failed(seat, 3);
  outliers.failed(seat, 4);
  equal(outliers.isOut(seat, 4), false);
  outliers.failed(seat, 5);
  equal(outliers.isOut(seat, 5), true);
  equal(outliers.isOut(candidate(2), 5), false);
  equal(outliers.restMs(seat, 5), restFirstMs);
  equal(outliers.outCount(), 1);
  const trialMs = 5 + restFirstMs;
  equal(outliers.isOut(seat, trialMs), false);
  outliers.chosen(seat);
  equal(outliers.isOut(seat, trialMs), true); // Its trial runs: no second one.
  outliers.failed(seat, trialMs + 100);
  equal(outliers.restMs(seat, trialMs + 100), 2 * restFirstMs);
});

Deno.test("Outliers lets a seat return after one success, with a share that grows", () => {
  const outliers = outAt(0);
  outliers.chosen(seat);
  outliers.succeeded(seat, restFirstMs);
  equal(outliers.isOut(seat, restFirstMs), false);
  equal(outliers.share(seat, restFirstMs), 0.1);
  equal(outliers.share(seat, restFirstMs + rampMs / 2), 0.5);
  equal(outliers.share(seat, restFirstMs + rampMs), 1);
  equal(outliers.share(candidate(2), 0), 1);
});

Deno.test("Outliers frees the place of a trial that said nothing", () => {
  const outliers = outAt(0);
  outliers.chosen(seat);
  outliers.undecided(seat);
  equal(outliers.isOut(seat, restFirstMs), false);
});

Deno.test("Outliers is not impressed by failures that began before the seat was out", () => {
  const outliers = outAt(0);
  outliers.failed(seat, 10);
  equal(outliers.restMs(seat, 10), restFirstMs - 10);
});

Deno.test("Outliers never rests a seat longer than its bound, and remembers a bounded number", () => {
  const outliers = outAt(0);
  let nowMs = 0;
  for (let trial = 0; trial < 20; trial++) {
    nowMs += outliers.restMs(seat, nowMs);
    outliers.chosen(seat);
    outliers.failed(seat, nowMs);
    equal(outliers.restMs(seat, nowMs) <= restLastMs, true);
  }
  equal(outliers.restMs(seat, nowMs), restLastMs);
  for (let n = 0; n < outliersMax + 10; n++) outliers.failed({ ...seat, service: `s${n}` }, nowMs);
  equal(outliers.isOut(seat, nowMs), false); // Forgotten.
});

Deno.test("Outliers lets at most one request through per rest, whatever happens", () => {
  const action = fc.constantFrom("ask", "fail", "leave", "wait");
  fc.assert(fc.property(fc.array(action, { maxLength: 60 }), (actions) => {
    const outliers = outAt(0);
    let nowMs = 0;
    let running = 0;
    for (const next of actions) {
      if (next === "wait") nowMs += 500;
      if (next === "ask" && !outliers.isOut(seat, nowMs)) {
        outliers.chosen(seat);
        running++;
      }
      if (next === "fail" && running > 0) {
        outliers.failed(seat, nowMs);
        running--;
      }
      if (next === "leave" && running > 0) {
        outliers.undecided(seat);
        running--;
      }
      equal(running <= 1, true);
    }
  }));
});

Deno.test("Outliers gives a seat that could not be reached a small share when it returns", () => {
  const outliers = new Outliers();
  outliers.lost(seat);
  equal(outliers.isOut(seat, 0), false);
  equal(outliers.share(seat, 0), 1); // Others are asked first anyway, until one succeeds there.
  outliers.succeeded(seat, 100);
  equal(outliers.share(seat, 100), 0.1);
  outliers.succeeded(seat, 200);
  equal(outliers.share(seat, 100 + rampMs / 2), 0.5);
});
