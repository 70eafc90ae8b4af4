// Do bodies share a lane fairly, within their credit, and without ever standing still?
import { deepEqual, equal, ok } from "node:assert/strict";
import fc from "fast-check";
import { KiB, MiB } from "../../../lib/base/units.ts";
import { FrameType, payloadBytesMax } from "../../../lib/lane/frame.ts";
import { windowMaxBytes } from "../../../lib/lane/window.ts";
import { LanePair, type LaneRecord, type Served } from "../../support/lane_pair.ts";
import { seededRandom } from "../../support/seeded_random.ts";

/** Sends `total` bytes as fast as the sender allows, as an engine does. */
function pour(
  total: number,
  chunkBytes: number,
  send: (chunk: Uint8Array) => boolean,
  end: () => void,
  heard: LaneRecord,
): void {
  let left = total;
  const go = () => {
    while (left > 0) {
      const bytes = Math.min(left, chunkBytes);
      left -= bytes;
      if (!send(new Uint8Array(bytes)) && left > 0) return;
    }
    heard.onWritable = () => {};
    end();
  };
  heard.onWritable = go;
  go();
}

function pourAnswer({ exchange, heard }: Served, total: number, chunkBytes: number): void {
  exchange.head(200, []);
  pour(total, chunkBytes, (chunk) => exchange.data(chunk), () => exchange.end([], 0), heard);
}

Deno.test("an answer nobody reads stops at its window, and goes on when it is read", () => {
  const pair = new LanePair();
  const { exchange, heard } = pair.open();
  pair.settle();
  pourAnswer(pair.served[0], MiB, 10_000);
  pair.settle();
  equal(heard.bodyBytes, 64 * KiB);
  // Slow reads: no growth.
  for (let read = 0; read < MiB;) {
    pair.nowMs += 500;
    const bytes = Math.min(32 * KiB, heard.bodyBytes - read);
    read += bytes;
    exchange.consumed(bytes, pair.nowMs);
    ok(heard.bodyBytes - read <= 64 * KiB);
    pair.settle();
  }
  equal(heard.bodyBytes, MiB);
  equal(pair.reservedBytes, 0);
});

Deno.test("an answer that is read at once gets up to 4 MiB in flight", () => {
  const pair = new LanePair({ unsentBytesMax: 64 * MiB });
  const { exchange, heard } = pair.open();
  pair.settle();
  pourAnswer(pair.served[0], 64 * MiB, 64 * KiB);
  let read = 0, inFlightMax = 0;
  while (read < 64 * MiB) {
    pair.nowMs += 5;
    pair.settle();
    inFlightMax = Math.max(inFlightMax, heard.bodyBytes - read);
    exchange.consumed(heard.bodyBytes - read, pair.nowMs);
    read = heard.bodyBytes;
    heard.chunks.length = 0;
  }
  equal(inFlightMax, windowMaxBytes);
});

Deno.test("a worker that sends more than the credit loses its exchange, and only that", () => {
  const pair = new LanePair();
  const bad = pair.open();
  const good = pair.open();
  pair.settle();
  const { exchange } = pair.served[0];
  exchange.head(200, []);
  pair.settle();
  exchange["body"].grant(MiB); // It pretends to have been allowed more.
  exchange.data(new Uint8Array(80 * KiB));
  pair.settle();
  equal(bad.heard.events.at(-1), "fail protocol body the worker sent more than its credit");
  equal(pair.served[0].heard.events.at(-1), "canceled the requester canceled");
  pair.served[1].exchange.head(204, []);
  pair.served[1].exchange.end([], 0);
  pair.settle();
  equal(good.heard.events.length, 1);
  equal(pair.reservedBytes, 0);
});

Deno.test("a requester that sends more than the credit loses its exchange, and the engine is stopped", () => {
  const pair = new LanePair();
  const { exchange, heard } = pair.open(new Uint8Array(1), false);
  pair.settle();
  exchange["body"].grant(MiB);
  exchange.sendBody(new Uint8Array(80 * KiB));
  pair.settle();
  equal(heard.events[0].startsWith("fail protocol sent"), true);
  equal(pair.served[0].heard.events.at(-1), "canceled the requester sent more than its credit");
  equal(pair.reservedBytes, 0);
});

Deno.test("a small answer beside a body of 1 GB waits for no more than the stream's bound and a batch", () => {
  const unsentBytesMax = 256 * KiB;
  const pair = new LanePair({ unsentBytesMax });
  const big = pair.open();
  const small = pair.open();
  pair.settle();
  big.heard.onData = (bytes) => {
    big.heard.chunks.length = 0;
    big.heard.events.length = 0;
    big.exchange.consumed(bytes, pair.nowMs);
  };
  const [bigServed, smallServed] = pair.served;
  smallServed.exchange.head(200, []);
  const total = 1_000_000_000;
  pourAnswer(bigServed, total, 64 * KiB);
  const random = seededRandom(7);
  let worst = 0, sentCount = 0;
  while (big.heard.bodyBytes < total) {
    pair.step();
    pair.nowMs += 1;
    if (random() > 0.02 || sentCount >= 200) continue;
    // Data frames of the big one between the small one's offer and its frame.
    pair.toRequester.frames.length = 0;
    const waiting = pair.toRequester.unsentBytes;
    smallServed.exchange.data(new Uint8Array(100));
    sentCount++;
    while (!pair.toRequester.frames.some(({ id }) => id === 2)) pair.step();
    const before = pair.toRequester.frames.slice(
      0,
      pair.toRequester.frames.findIndex(({ id }) => id === 2),
    );
    worst = Math.max(worst, waiting + before.reduce((sum, { bytes }) => sum + bytes, 0));
  }
  pair.settle();
  equal(small.heard.bodyBytes, 100 * sentCount);
  ok(sentCount > 20);
  ok(worst <= unsentBytesMax + 2 * 64 * KiB, `waited behind ${worst} bytes`);
});

Deno.test("bodies wait in turn on a narrow stream: nobody gets two frames before the others had one", () => {
  const pair = new LanePair({ unsentBytesMax: 1 });
  const opened = Array.from({ length: 20 }, () => pair.open());
  pair.settle();
  for (const { exchange } of pair.served) exchange.head(200, []);
  pair.settle();
  pair.toRequester.isHeld = true;
  for (const { exchange } of pair.served) exchange.data(new Uint8Array(60 * KiB));
  pair.step();
  pair.toRequester.frames.length = 0;
  pair.toRequester.isHeld = false;
  const most: number[] = [];
  for (let count = 0; count < 400 && pair.step(); count++) {
    const counts = new Map<number, number>();
    for (const { id, type } of pair.toRequester.frames) {
      if (type === FrameType.data) counts.set(id, (counts.get(id) ?? 0) + 1);
    }
    const served = opened.map(({ exchange }) => counts.get(exchange.id) ?? 0);
    const unfinished = served.filter((_, at) => opened[at].heard.bodyBytes < 60 * KiB);
    if (unfinished.length > 0) most.push(Math.max(...served) - Math.min(...unfinished));
  }
  for (const { heard } of opened) equal(heard.bodyBytes, 60 * KiB);
  ok(Math.max(...most) <= 2, `one was ${Math.max(...most)} frames ahead`);
});

Deno.test("control frames pass a writer that is blocked by data", () => {
  const pair = new LanePair({ unsentBytesMax: 1 });
  const first = pair.open();
  const second = pair.open();
  pair.settle();
  pair.toResponder.isHeld = true;
  first.exchange.cancel();
  pair.step();
  equal(pair.requester["writer"].isBlocked, true);
  second.exchange.cancel();
  pair.open();
  pair.requester.flush();
  const types = pair.toResponder.framesOf().slice(-2).map(({ type }) => type);
  deepEqual(types, [FrameType.cancel, FrameType.request]);
});

Deno.test("bodies wait for a stream that is full, also beside their heads", () => {
  const pair = new LanePair({ unsentBytesMax: 64 * KiB });
  pair.settle();
  pair.toResponder.isHeld = true;
  const opened = Array.from({ length: 200 }, () => pair.open(new Uint8Array(16 * KiB)));
  pair.step();
  // A stream ends its lane when far too much waits in it: a thousand prompts at once must not come to that.
  ok(pair.toResponder.unsentBytes < 300 * KiB, `${pair.toResponder.unsentBytes} bytes wait`);
  pair.toResponder.isHeld = false;
  pair.settle();
  equal(pair.served.length, 200);
  for (const { heard } of pair.served) {
    deepEqual([heard.bodyBytes, heard.events.at(-1)], [16 * KiB, "end  undefined"]);
  }
  pair.toRequester.isHeld = true;
  for (const { exchange } of pair.served) {
    exchange.head(200, []);
    exchange.data(new Uint8Array(16 * KiB));
    exchange.end([], 1);
  }
  pair.step();
  ok(pair.toRequester.unsentBytes < 300 * KiB, `${pair.toRequester.unsentBytes} bytes wait`);
  pair.toRequester.isHeld = false;
  pair.settle();
  for (const { heard } of opened) equal(heard.bodyBytes, 16 * KiB);
  equal(pair.reservedBytes, 0);
});

Deno.test("no frame carries more than 16 KiB, whatever is sent", () => {
  const pair = new LanePair();
  const { exchange } = pair.open(new Uint8Array(60 * KiB), true);
  exchange.sendMessage(false, new Uint8Array(50 * KiB));
  pair.settle();
  for (const { bytes } of pair.toResponder.frames) ok(bytes <= payloadBytesMax);
});

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
