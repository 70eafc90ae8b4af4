// How do WebSocket messages and their ends cross a lane?
import { deepEqual, equal, ok } from "node:assert/strict";
import fc from "fast-check";
import { KiB } from "../../../lib/base/units.ts";
import { FrameType } from "../../../lib/lane/frame.ts";
import { closePayload, readClose } from "../../../lib/lane/socket_frames.ts";
import { LanePair } from "../../support/lane_pair.ts";

function openSocket() {
  const pair = new LanePair();
  const opened = pair.open(undefined, false, { u: 1 });
  pair.settle();
  const [served] = pair.served;
  served.exchange.head(101, []);
  pair.settle();
  opened.heard.events.length = 0;
  return { pair, ...opened, served };
}

Deno.test("a message crosses in parts of a frame each, the last marked, empty ones too", () => {
  const { pair, exchange, heard, served } = openSocket();
  exchange.sendMessage(true, new TextEncoder().encode("hi"));
  exchange.sendMessage(false, new Uint8Array(0));
  exchange.sendMessage(false, new Uint8Array(40 * KiB));
  served.exchange.sendMessage(true, new Uint8Array(0));
  served.exchange.sendMessage(false, new Uint8Array([1, 2]));
  pair.settle();
  deepEqual(served.heard.events, [
    "text 2 last",
    "binary 0 last",
    "binary 16383",
    "binary 16383",
    "binary 8194 last",
  ]);
  deepEqual(heard.events, ["text 0 last", "binary 2 last"]);
});

Deno.test("messages wait for credit, are counted, and none is lost", () => {
  const { pair, exchange, heard, served } = openSocket();
  let waiting = 0;
  for (let count = 0; count < 100; count++) {
    waiting = served.exchange.sendMessage(false, new Uint8Array(10 * KiB));
  }
  pair.settle();
  ok(waiting > 900 * KiB);
  equal(heard.bodyBytes, 64 * KiB);
  for (let read = 0; read < 1_000 * KiB;) {
    exchange.consumed(heard.bodyBytes - read, pair.nowMs += 100);
    read = heard.bodyBytes;
    pair.settle();
  }
  equal(heard.events.filter((event) => event.endsWith("last")).length, 100);
  ok(served.heard.writableCount > 0);
});

Deno.test("a close ends the exchange at both ends, after the messages before it", () => {
  for (const side of ["requester", "worker"]) {
    const { pair, exchange, heard, served } = openSocket();
    const from = side === "requester" ? exchange : served.exchange;
    from.sendMessage(true, new Uint8Array(3));
    from.closeSocket(1000, "bye");
    from.closeSocket(1001, "again");
    pair.settle();
    const events = side === "requester" ? served.heard.events : heard.events;
    deepEqual(events, ["text 3 last", "closed 1000 bye"]);
    // An exchange that stays open holds its window, and pings for ever.
    equal(pair.requester.openCount + pair.responder.openCount, 0);
    equal(pair.reservedBytes, 0);
  }
});

Deno.test("closes that cross end both ends once", () => {
  const { pair, exchange, heard, served } = openSocket();
  exchange.closeSocket(1000, "a");
  served.exchange.closeSocket(1001, "b");
  pair.settle();
  deepEqual([heard.events, served.heard.events], [[], []]);
  equal(pair.reservedBytes, 0);
});

Deno.test("a message part without its flag byte gives no credit and ends its exchange", () => {
  const { pair, served, heard } = openSocket();
  pair.responder["writer"].frame(FrameType.text, served.exchange.id);
  pair.settle();
  equal(heard.events[0].startsWith("fail protocol"), true);
});

Deno.test("closePayload and readClose carry any code and reason, cut to what a close frame holds", () => {
  fc.assert(fc.property(
    fc.integer({ min: 0, max: 65_535 }),
    fc.string({ unit: "binary", maxLength: 200 }),
    (code, reason) => {
      const payload = closePayload(code, reason);
      ok(payload.length <= 125);
      const read = readClose(payload);
      equal(read.code, code);
      ok(reason.startsWith(read.reason));
      if (new TextEncoder().encode(reason).length <= 123) equal(read.reason, reason);
    },
  ));
});

Deno.test("readClose makes a reason that fits a close frame, of any bytes", () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), (payload) => {
    ok(new TextEncoder().encode(readClose(payload).reason).length <= 123);
  }));
  deepEqual(readClose(new Uint8Array(1)), { code: 1006, reason: "" });
});
