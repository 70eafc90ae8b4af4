// Are frames found in bytes that were cut anywhere?
import { deepEqual, equal, throws } from "node:assert/strict";
import fc from "fast-check";
import { writeU32 } from "../../../lib/base/u32.ts";
import { frameHeaderBytes, FrameReader, payloadBytesMax } from "../../../lib/lane/frame.ts";
import type { OtelaError } from "../../../lib/base/errors.ts";

type Frame = { type: number; id: number; payload: number[] };

function bytesOf(frames: readonly Frame[]): Uint8Array {
  return Uint8Array.from(frames.flatMap(({ type, id, payload }) => {
    const header = new Uint8Array(frameHeaderBytes);
    header[0] = type;
    writeU32(header, 1, id);
    writeU32(header, 5, payload.length);
    return [...header, ...payload];
  }));
}

function read(bytes: Uint8Array, cuts: readonly number[]): Frame[] {
  const reader = new FrameReader();
  const frames: Frame[] = [];
  let from = 0;
  for (const cut of [...cuts, bytes.length]) {
    const piece = bytes.slice(from, cut);
    reader.push(piece, (type, id, payload) => frames.push({ type, id, payload: [...payload] }));
    piece.fill(0xdd);
    from = cut;
  }
  return frames;
}

const few: Frame[] = [
  { type: 131, id: 1, payload: [1, 2, 3] },
  { type: 136, id: 0, payload: [] },
  { type: 132, id: 2 ** 32 - 1, payload: [9] },
  { type: 137, id: 0, payload: [] },
];

Deno.test("FrameReader finds the same frames, at every pair of cuts", () => {
  const bytes = bytesOf(few);
  for (let a = 0; a <= bytes.length; a++) {
    for (let b = a; b <= bytes.length; b++) deepEqual(read(bytes, [a, b]), few);
  }
});

Deno.test("FrameReader finds the same frames, one byte at a time", () => {
  const bytes = bytesOf(few);
  deepEqual(read(bytes, Array.from(bytes, (_, at) => at)), few);
});

Deno.test("FrameReader finds what was written, for any frames and cuts", () => {
  const frame = fc.record({
    type: fc.integer({ min: 0, max: 255 }),
    id: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
    payload: fc.array(fc.integer({ min: 0, max: 255 }), { maxLength: 300 }),
  });
  fc.assert(
    fc.property(fc.array(frame, { maxLength: 8 }), fc.array(fc.nat()), (frames, positions) => {
      const bytes = bytesOf(frames);
      const cuts = positions.map((at) => at % (bytes.length + 1)).sort((a, b) => a - b);
      deepEqual(read(bytes, cuts), frames);
    }),
    { numRuns: 200 },
  );
});

Deno.test("FrameReader takes the largest payload and refuses one byte more, wherever it is cut", () => {
  const largest = { type: 131, id: 1, payload: Array<number>(payloadBytesMax).fill(7) };
  const bytes = bytesOf([largest, few[0]]);
  for (const cut of [1, 8, 9, 10, payloadBytesMax, payloadBytesMax + 9]) {
    deepEqual(read(bytes, [cut]), [largest, few[0]]);
  }
  const over = bytesOf([{ type: 131, id: 1, payload: [] }]);
  writeU32(over, 5, payloadBytesMax + 1);
  for (const cut of [0, 1, 8]) {
    throws(() => read(over, [cut]), (error) => {
      equal((error as OtelaError).code, "lane_failed");
      return true;
    });
  }
});
