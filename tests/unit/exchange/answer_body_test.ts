// Where do the pieces of a body stand while they wait for their reader?
import { deepEqual, equal, notEqual } from "node:assert/strict";
import { AnswerBody, type BodyFollower } from "../../../lib/exchange/answer_body.ts";

function followed(): { body: AnswerBody; chunks: Uint8Array[] } {
  const chunks: Uint8Array[] = [];
  const body = new AnswerBody({ consumed() {}, cancel() {} });
  const follower: BodyFollower = { chunk: (chunk) => chunks.push(chunk), ended() {}, broke() {} };
  body.follow(follower);
  return { body, chunks };
}

Deno.test("AnswerBody cuts the pieces of a reader that keeps up from a shared buffer", () => {
  const { body, chunks } = followed();
  const piece = new Uint8Array(50);
  for (let i = 0; i < 200; i++) {
    piece.fill(i);
    body.push(piece);
    body.consumed(50);
  }
  equal(new Set(chunks.map((chunk) => chunk.buffer)).size < 5, true, "10,000 bytes in few buffers");
  for (const [i, chunk] of chunks.entries()) deepEqual(chunk, new Uint8Array(50).fill(i));
});

Deno.test("AnswerBody gives a slow reader pieces that hold nothing but themselves", () => {
  const { body, chunks } = followed();
  for (let i = 0; i < 200; i++) body.push(new Uint8Array(50).fill(i));
  const [first, last] = [chunks[0], chunks[199]];
  notEqual(first.buffer.byteLength, 50);
  equal(last.buffer.byteLength, 50);
  const alone = chunks.filter((chunk) => chunk.buffer.byteLength === 50);
  equal(alone.length, 200 - 82, "all but the first 4 KiB and what reaches beyond");
  body.consumed(10_000);
  body.push(new Uint8Array(50));
  notEqual(chunks[200].buffer.byteLength, 50, "it has caught up");
});
