// What do both ends of an exchange hear, from its opening to its end?
import { deepEqual, equal, throws } from "node:assert/strict";
import { KiB } from "../../../lib/base/units.ts";
import { writeU32 } from "../../../lib/base/u32.ts";
import { frameHeaderBytes, FrameType } from "../../../lib/lane/frame.ts";
import { LanePair, type LaneRecord } from "../../support/lane_pair.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

function names(record: LaneRecord): string[] {
  return record.events.map((event) => event.split(" ").slice(0, 3).join(" "));
}

function frame(type: number, id: number, payload = new Uint8Array(0)): Uint8Array {
  const all = new Uint8Array(frameHeaderBytes + payload.length);
  all[0] = type;
  writeU32(all, 1, id);
  writeU32(all, 5, payload.length);
  all.set(payload, frameHeaderBytes);
  return all;
}

Deno.test("an exchange carries a whole request and a whole answer in a frame each", () => {
  const pair = new LanePair({
    serve: ({ exchange }) => {
      exchange.head(200, ["content-type", "text/plain"]);
      exchange.data(bytes("hello"));
      exchange.end([], 4);
    },
  });
  const { heard } = pair.open(bytes("{}"));
  pair.settle();
  deepEqual(pair.served[0].heard.events, ["data", "end  undefined"]);
  deepEqual(heard.events, ["head 200 content-type,text/plain end 4"]);
  equal(new TextDecoder().decode(heard.body), "hello");
  equal(pair.toResponder.framesOf().length, 1);
  equal(pair.toRequester.framesOf().length, 1);
  equal(pair.reservedBytes, 0);
  equal(pair.requester.openCount + pair.responder.openCount, 0);
});

Deno.test("an exchange streams its answer, and ends with trailers and the worker's load", () => {
  const pair = new LanePair();
  const { heard } = pair.open();
  pair.settle();
  const { exchange } = pair.served[0];
  exchange.head(200, []);
  pair.settle();
  exchange.data(bytes("a"));
  pair.settle();
  exchange.data(bytes("b"));
  exchange.end(["x-usage", "7"], 2);
  pair.settle();
  deepEqual(heard.events, ["head 200 ", "data", "data", "end x-usage,7 2"]);
  equal(pair.reservedBytes, 0);
});

Deno.test("a hundred exchanges of one turn leave in one write, and so do their answers", () => {
  const pair = new LanePair({
    serve: ({ exchange }) => {
      exchange.head(200, []);
      exchange.data(bytes("ok"));
      exchange.end([], 0);
    },
  });
  pair.settle();
  const counts = () =>
    [pair.toResponder, pair.toRequester].flatMap((wire) => [wire.batchCount, wire.flushAskedCount]);
  const before = counts();
  for (let count = 0; count < 100; count++) pair.open(bytes("{}"));
  pair.settle();
  deepEqual(counts(), before.map((count) => count + 1));
});

Deno.test("ids ascend from 1 and are not used again", () => {
  const pair = new LanePair({
    serve: ({ exchange }) => exchange.fail("overloaded", "refused", ""),
  });
  for (let count = 0; count < 5; count++) {
    pair.open();
    pair.settle();
  }
  deepEqual(pair.toResponder.framesOf().map(({ id }) => id), [1, 2, 3, 4, 5]);
  const again = new LanePair();
  const request = pairRequest();
  again.responder.receive(request, 0);
  throws(() => again.responder.receive(request, 0), { code: "lane_failed" });
});

function pairRequest(): Uint8Array {
  const pair = new LanePair();
  pair.open();
  pair.requester.flush();
  return pair.toResponder.batches[0];
}

Deno.test("frames of closed exchanges are dropped in silence, when an end and a cancel cross", () => {
  const pair = new LanePair();
  const { exchange, heard } = pair.open();
  pair.settle();
  const served = pair.served[0];
  served.exchange.head(200, []);
  served.exchange.data(bytes("x"));
  served.exchange.end([], 0);
  pair.responder.flush();
  exchange.cancel();
  pair.settle();
  deepEqual(heard.events, []);
  equal(served.heard.events.some((event) => event.startsWith("canceled")), false);
  for (const type of [131, 132, 133, 135, 138, 139, 140]) {
    pair.responder.receive(frame(type, 1, new Uint8Array(4)), 0);
    pair.responder.receive(frame(type, 77, new Uint8Array(4)), 0);
  }
  for (const type of [130, 131, 133, 135, 138, 139, 140]) {
    pair.requester.receive(frame(type, 1, new Uint8Array(4)), 0);
  }
  equal(pair.reservedBytes, 0);
});

Deno.test("a frame type below 128 that is unknown is skipped, one from 128 on ends the lane", () => {
  for (const type of [0, 1, 127]) {
    const pair = new LanePair();
    pair.requester.receive(frame(type, 1, bytes("?")), 0);
    pair.responder.receive(frame(type, 1, bytes("?")), 0);
  }
  for (const type of [141, 200, 255]) {
    const pair = new LanePair();
    throws(() => pair.requester.receive(frame(type, 1), 0), { code: "lane_failed" });
    throws(() => pair.responder.receive(frame(type, 1), 0), { code: "lane_failed" });
  }
});

Deno.test("a cancel reaches the worker once, and both windows are given back", () => {
  const pair = new LanePair();
  const { exchange, heard } = pair.open(bytes("part"), false);
  pair.settle();
  exchange.cancel();
  exchange.cancel();
  pair.settle();
  deepEqual(pair.served[0].heard.events, ["data", "canceled the requester canceled"]);
  deepEqual(heard.events, []);
  equal(pair.toResponder.framesOf(FrameType.cancel).length, 1);
  equal(pair.reservedBytes, 0);
});

Deno.test("an end of the lane fails every exchange at once, each with how far it had come", () => {
  const pair = new LanePair();
  const opened = ["sent", "head", "body", "not_sent"].map((phase, at) => {
    const { heard } = pair.open();
    if (phase !== "not_sent") pair.settle();
    const served = pair.served[at]?.exchange;
    if (phase === "head" || phase === "body") served.head(200, []);
    if (phase === "body") served.data(bytes("x"));
    if (phase !== "not_sent") pair.settle();
    return { phase, heard };
  });
  pair.requester.closed("lane_closed", "gone");
  pair.responder.closed("gone");
  for (const { phase, heard } of opened) {
    equal(heard.events.at(-1), `fail lane_closed ${phase} gone`);
  }
  for (const { heard } of pair.served) equal(heard.events.at(-1), "canceled gone");
  equal(pair.reservedBytes, 0);
  throws(() => pair.open(), { code: "lane_failed" });
  equal(pair.reservedBytes, 0);
});

Deno.test("a worker's failure counts as refused only before its head, else as far as we know", () => {
  const pair = new LanePair();
  const phases: string[] = [];
  for (const claimed of ["refused", "not_sent", "body"] as const) {
    const { heard } = pair.open();
    pair.settle();
    pair.served.at(-1)!.exchange.fail("engine_failed", claimed, "broke");
    pair.settle();
    phases.push(heard.events[0]);
  }
  const { heard } = pair.open();
  pair.settle();
  pair.served.at(-1)!.exchange.head(200, []);
  pair.settle();
  pair.served.at(-1)!.exchange.fail("engine_failed", "refused", "broke");
  pair.settle();
  deepEqual(phases, [
    "fail engine_failed refused broke",
    "fail engine_failed sent broke",
    "fail engine_failed sent broke",
  ]);
  equal(heard.events.at(-1), "fail engine_failed head broke");
});

Deno.test("a failure in the turn of the head comes after it, with the bytes between", () => {
  const pair = new LanePair();
  const { heard } = pair.open();
  pair.settle();
  const { exchange } = pair.served[0];
  exchange.head(200, []);
  exchange.data(bytes("part"));
  exchange.fail("engine_failed", "sent", "broke");
  pair.settle();
  deepEqual(heard.events, ["head 200 ", "fail engine_failed body broke"]);
  equal(heard.bodyBytes, 4);
});

Deno.test("a responder refuses exchanges above its bound and serves again when some ended", () => {
  const pair = new LanePair({ exchangesMax: 2 });
  const opened = [pair.open(), pair.open(), pair.open()];
  pair.settle();
  equal(pair.served.length, 2);
  equal(opened[2].heard.events[0].startsWith("fail overloaded refused"), true);
  equal(pair.requester.mayOpen, false);
  opened[0].exchange.cancel();
  equal(pair.requester.mayOpen, true);
  pair.open();
  pair.settle();
  equal(pair.served.length, 3);
});

Deno.test("an exchange is not opened, when all window memory is in use", () => {
  const pair = new LanePair({ budgetBytesMax: 64 * KiB });
  for (let count = 0; count < 4; count++) pair.open();
  throws(() => pair.open(), { code: "overloaded" });
});

Deno.test("a worker that does not want the body says so, and answers all the same", () => {
  const pair = new LanePair();
  const { exchange, heard } = pair.open(new Uint8Array(10), false);
  pair.settle();
  exchange.sendBody(new Uint8Array(200 * KiB));
  pair.settle();
  const served = pair.served[0].exchange;
  served.refuseBody();
  served.head(413, []);
  served.end([], 0);
  pair.settle();
  deepEqual(names(heard), ["bodyUnwanted", "head 413 "]);
  equal(exchange.sendBody(new Uint8Array(200 * KiB)), true);
  equal(pair.reservedBytes, 0);
});

Deno.test("a head that no frame can carry fails its exchange alone", () => {
  const heads: string[][] = [
    ["x", "y".repeat(70 * KiB)],
    Array.from({ length: 2 * 1_025 }, () => "z"),
  ];
  for (const headers of heads) {
    const pair = new LanePair();
    const other = pair.open();
    const { heard } = pair.open();
    pair.settle();
    pair.served[1].exchange.head(200, headers);
    pair.served[1].exchange.data(bytes("x"));
    pair.settle();
    equal(heard.events[0].startsWith("fail engine_failed sent"), true);
    deepEqual(other.heard.events, []);
    equal(pair.served[1].heard.events.at(-1)?.startsWith("canceled"), true);
  }
  const pair = new LanePair();
  throws(() => pair.open(undefined, true, { h: Array(2 * 1_025).fill("z") }), {
    code: "bad_request",
  });
  equal(pair.reservedBytes, 0);
});

Deno.test("trailers that no frame can carry are left out, and the answer is whole all the same", () => {
  for (const trailers of [["x", "y".repeat(20 * KiB)], Array<string>(2 * 1_025).fill("z")]) {
    const pair = new LanePair();
    const { heard } = pair.open();
    pair.settle();
    pair.served[0].exchange.head(200, []);
    pair.served[0].exchange.end(trailers, 3);
    pair.settle();
    deepEqual(heard.events, ["head 200 ", "end  3"]);
  }
});

Deno.test("a requester that leaves many heads half sent ends its lane", () => {
  const pair = new LanePair({ exchangesMax: 10_000 });
  const half = new Uint8Array(6);
  half[0] = 1;
  writeU32(half, 1, 64 * KiB);
  throws(() => {
    // 10,000 of them would hold 640 MB that no budget counts.
    for (let id = 1; id < 1_000; id++) pair.responder.receive(frame(129, id, half), 0);
  }, { code: "lane_failed" });
});
