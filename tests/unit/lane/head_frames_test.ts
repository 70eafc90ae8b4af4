// Do heads of any size travel whole, and are bad ones refused?
import { deepEqual, equal, throws } from "node:assert/strict";
import fc from "fast-check";
import { KiB } from "../../../lib/base/units.ts";
import { encode } from "cborg";
import { writeU32 } from "../../../lib/base/u32.ts";
import { FrameReader, FrameType, payloadBytesMax } from "../../../lib/lane/frame.ts";
import { FrameWriter } from "../../../lib/lane/frame_writer.ts";
import {
  decodeEnd,
  decodeError,
  decodeHello,
  decodeRequest,
  decodeResponse,
  encodeHead,
} from "../../../lib/lane/head.ts";
import { HeadAssembler, writeHead } from "../../../lib/lane/head_frames.ts";

function carried(head: Uint8Array, body: Uint8Array, isEnd: boolean) {
  const batches: Uint8Array[] = [];
  const writer = new FrameWriter({
    send: (batch) => batches.push(batch) > 0,
    requestFlush: () => {},
  });
  const wrote = writeHead(writer, FrameType.request, 1, head, body, isEnd);
  writer.flush();
  const reader = new FrameReader();
  const assembler = new HeadAssembler();
  const got: { head: Uint8Array; body: Uint8Array; isEnd: boolean }[] = [];
  let frameCount = 0;
  for (const batch of batches) {
    reader.push(batch, (_type, _id, payload) => {
      frameCount++;
      const received = assembler.push(payload);
      if (received) {
        got.push({ ...received, head: received.head.slice(), body: received.body.slice() });
      }
    });
  }
  return { wrote, got, frameCount };
}

Deno.test("writeHead and HeadAssembler carry any head with the start of any body", () => {
  const length = fc.oneof(
    fc.integer({ min: 0, max: 64 * KiB }),
    fc.integer({ min: payloadBytesMax - 10, max: payloadBytesMax + 10 }),
  );
  fc.assert(fc.property(length, length, fc.boolean(), (headBytes, bodyBytes, isEnd) => {
    const head = Uint8Array.from({ length: headBytes }, (_, at) => at);
    const body = Uint8Array.from({ length: bodyBytes }, (_, at) => at * 3);
    const { wrote, got } = carried(head, body, isEnd);
    equal(got.length, 1);
    deepEqual(got[0].head, head);
    deepEqual(got[0].body, body.slice(0, wrote.bodyBytes));
    equal(got[0].isEnd, wrote.isEnded);
    equal(wrote.isEnded, isEnd && wrote.bodyBytes === bodyBytes);
  }));
});

Deno.test("writeHead splits a head above 16 KiB, and puts a small request into one frame", () => {
  equal(carried(new Uint8Array(40 * KiB), new Uint8Array(0), true).frameCount, 3);
  equal(carried(new Uint8Array(200), new Uint8Array(66), true).frameCount, 1);
});

Deno.test("encodeHead refuses a head above 64 KiB", () => {
  throws(() => encodeHead({ s: 200, h: ["x", "y".repeat(64 * KiB)] }), { code: "bad_request" });
});

Deno.test("HeadAssembler refuses heads that lie about themselves", () => {
  const payload = (flags: number, length: number, rest: number) => {
    const bytes = new Uint8Array(5 + rest);
    bytes[0] = flags;
    writeU32(bytes, 1, length);
    return bytes;
  };
  const refused = [
    payload(0, 10, 9),
    payload(1, 10, 10),
    payload(0, 64 * KiB + 1, 10),
    payload(1, 2 ** 32 - 1, 10),
    new Uint8Array(4),
    new Uint8Array(0),
  ];
  for (const bytes of refused) {
    throws(() => new HeadAssembler().push(bytes), { code: "lane_failed" });
  }
  const started = new HeadAssembler();
  equal(started.push(payload(1, 20, 10)), undefined);
  throws(() => started.push(new Uint8Array(0)), { code: "lane_failed" });
});

Deno.test("decoders ignore unknown keys and refuse wrong shapes", () => {
  const request = { s: "llm", m: "GET", p: "/", h: ["a", "b"], n: -1, w: 1 };
  equal(decodeRequest(encode({ ...request, zz: [1, { x: 2 }] })).s, "llm");
  equal(decodeResponse(encode({ s: 200, h: [], future: true })).s, 200);
  deepEqual(decodeEnd(new Uint8Array(0)), {});
  equal(decodeEnd(encode({ l: 3, later: "x" })).l, 3);
  equal(decodeError(encode({ f: "x", p: "y", m: "z".repeat(999), q: 1 })).m.length, 300);
  const hello = { frameMax: 1, window: 0, exchangesMax: 1, features: [] };
  equal(decodeHello(encode({ ...hello, more: 1 })).frameMax, 1);
  const bad = [
    { ...request, p: "x" },
    { ...request, h: ["a"] },
    { ...request, h: [1, 2] },
    { ...request, n: -2 },
    { ...request, w: 0.5 },
    { ...request, u: 2 },
    { ...request, s: undefined },
    [request],
    null,
    7,
  ];
  for (const value of bad) {
    throws(() => decodeRequest(encode(value)), { code: "lane_failed" });
  }
  for (const value of [{ s: 99, h: [] }, { s: 600, h: [] }, { s: 200 }, { s: 200, h: [], l: -1 }]) {
    throws(() => decodeResponse(encode(value)), { code: "lane_failed" });
  }
  throws(() => decodeHello(encode({ ...hello, features: Array(65).fill("x") })));
  throws(() => decodeRequest(new Uint8Array([0xff, 0xff])), { code: "lane_failed" });
});

Deno.test("decoders refuse arrays in arrays without end", () => {
  throws(() => decodeRequest(new Uint8Array(64 * KiB).fill(0x81)), { code: "lane_failed" });
});
