// When does a writer ask for its frames to leave?
import { deepEqual, equal } from "node:assert/strict";
import { FrameType } from "../../../lib/lane/frame.ts";
import { FrameWriter } from "../../../lib/lane/frame_writer.ts";

function writing(): { writer: FrameWriter; asked: boolean[]; batches: number[] } {
  const asked: boolean[] = [];
  const batches: number[] = [];
  const writer = new FrameWriter({
    send: (batch) => batches.push(batch.length) > 0,
    requestFlush: (mayWait) => asked.push(mayWait),
  });
  return { writer, asked, batches };
}

Deno.test("FrameWriter asks once for frames that may wait, and again for one that may not", () => {
  const { writer, asked, batches } = writing();
  writer.frame(FrameType.data, 1, undefined, true);
  writer.frame(FrameType.data, 2, undefined, true);
  deepEqual(asked, [true]);
  writer.frame(FrameType.ping, 0);
  writer.frame(FrameType.data, 3, undefined, true);
  deepEqual(asked, [true, false], "who cannot wait takes the others along");
  writer.flush();
  equal(batches.length, 1);
  writer.frame(FrameType.data, 4, undefined, true);
  deepEqual(asked, [true, false, true]);
});

Deno.test("FrameWriter never writes into a batch that it has handed over", () => {
  const batches: { batch: Uint8Array; was: Uint8Array }[] = [];
  const writer = new FrameWriter({
    send: (batch) => batches.push({ batch, was: batch.slice() }) > 0,
    requestFlush: () => {},
  });
  for (let i = 0; i < 300; i++) {
    writer.frame(FrameType.data, i, new Uint8Array((i * 97) % 3_000).fill(i));
    if (i % 3 === 0) writer.flush();
  }
  writer.flush();
  for (const { batch, was } of batches) deepEqual(batch, was);
  const total = batches.reduce((sum, { batch }) => sum + batch.length, 0);
  const payloads = Array.from({ length: 300 }, (_, i) => (i * 97) % 3_000);
  equal(
    total,
    payloads.reduce((sum, bytes) => sum + bytes + 9, 0),
    "nothing is lost at a buffer's end",
  );
});
