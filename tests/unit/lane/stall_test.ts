// When does silence count against a lane?
import { deepEqual, equal } from "node:assert/strict";
import { StallWatch } from "../../../lib/lane/stall.ts";
import { FrameType } from "../../../lib/lane/frame.ts";
import { LanePair } from "../../support/lane_pair.ts";

/** Ticks every 250 ms as the pool does. */
function verdicts(watch: StallWatch, untilMs: number, openCount: number): string[] {
  const seen: string[] = [];
  for (let nowMs = 250; nowMs <= untilMs; nowMs += 250) {
    const verdict = watch.tick(nowMs, openCount);
    if (seen.at(-1)?.split(" ")[0] !== verdict) seen.push(`${verdict} ${nowMs}`);
  }
  return seen;
}

Deno.test("StallWatch pings at 1 s, avoids at 2 s and fails at 4 s, when somebody waits", () => {
  deepEqual(verdicts(new StallWatch(0), 5_000, 1), [
    "fine 250",
    "ping 1000",
    "avoid 2000",
    "fail 4000",
  ]);
});

Deno.test("StallWatch judges nobody, when nobody waits", () => {
  deepEqual(verdicts(new StallWatch(0), 60_000, 0), ["fine 250"]);
});

Deno.test("StallWatch forgives at the first byte", () => {
  const watch = new StallWatch(0);
  verdicts(watch, 3_000, 1);
  equal(watch.isAvoided, true);
  watch.heard(3_010);
  equal(watch.isAvoided, false);
  equal(watch.tick(3_250, 1), "fine");
});

Deno.test("StallWatch blames nobody for a time in which it did not tick itself", () => {
  const watch = new StallWatch(0);
  equal(watch.tick(250, 1), "fine");
  equal(watch.tick(10_250, 1), "fine");
  equal(watch.tick(11_000, 1), "fine");
  equal(watch.tick(11_250, 1), "ping");
});

Deno.test("RequesterLane asks one ping of a silent worker and takes no new exchange, until it is heard", () => {
  const pair = new LanePair();
  pair.open();
  pair.settle();
  pair.toResponder.isHeld = true;
  for (pair.nowMs = 250; pair.nowMs <= 2_000; pair.nowMs += 250) {
    pair.requester.tick(pair.nowMs);
    pair.settle();
  }
  // Beside the one that measured the way when the lane began.
  equal(pair.toResponder.framesOf(FrameType.ping).length, 2);
  equal(pair.requester.mayOpen, false);
  equal(pair.requester.isStalled, true);
  pair.toResponder.isHeld = false;
  pair.settle();
  equal(pair.requester.mayOpen, true);
});

Deno.test("RequesterLane waits afresh for an exchange that begins after a long rest", () => {
  const pair = new LanePair();
  pair.settle();
  pair.toResponder.isHeld = true;
  for (pair.nowMs = 250; pair.nowMs < 60_000; pair.nowMs += 250) pair.requester.tick(pair.nowMs);
  pair.open();
  equal(pair.requester.tick(pair.nowMs), "fine");
  equal(pair.requester.mayOpen, true);
});

Deno.test("Lane keeps its best round trip, when a ping was answered after a stall", () => {
  const pair = new LanePair();
  pair.open();
  pair.toResponder.isHeld = true;
  pair.settle();
  pair.nowMs = 40;
  pair.toResponder.isHeld = false;
  pair.settle();
  equal(pair.requester.roundTripMs, 40);
  pair.toRequester.isHeld = true;
  for (; pair.nowMs <= 3_040; pair.nowMs += 250) {
    pair.requester.tick(pair.nowMs);
    pair.settle();
  }
  pair.toRequester.isHeld = false;
  pair.settle();
  // A window that grows by a round trip of three seconds would grow for readers who hardly read.
  equal(pair.requester.roundTripMs, 40);
});

Deno.test("Lane measures the round trip at both ends, so that bodies over a long way get large windows", () => {
  const pair = new LanePair();
  // Both hellos arrive at once, as they do when a stream was agreed on: they say nothing of the way.
  pair.step();
  pair.toResponder.isHeld = pair.toRequester.isHeld = true;
  pair.step();
  pair.nowMs = 80;
  pair.toResponder.isHeld = pair.toRequester.isHeld = false;
  pair.settle();
  equal(pair.requester.roundTripMs, 80);
  equal(pair.responder.roundTripMs, 80);
});
