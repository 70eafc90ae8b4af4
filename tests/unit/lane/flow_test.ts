// Do bodies share a lane fairly, within their credit, and without ever standing still?
import { deepEqual, equal, ok } from "node:assert/strict";
import { KiB, MiB } from "../../../lib/base/units.ts";
import { FrameType, payloadBytesMax } from "../../../lib/lane/frame.ts";
import { windowMaxBytes } from "../../../lib/lane/window.ts";
import { LanePair } from "../../support/lane_pair.ts";
import { pourAnswer } from "../../support/lane_pour.ts";
import { seededRandom } from "../../../lib/sim/seeded_random.ts";

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
