// What is a frame, and how are frames found in a stream of bytes?
import { OtelaError } from "../base/errors.ts";
import { readU32 } from "../base/u32.ts";
import { type Bytes, KiB } from "../base/units.ts";

/**
 * A frame is `type u8, id u32, length u32, payload`. Types below 128 may be skipped by a receiver that does not
 * know them; an unknown type from 128 on ends the lane, because its meaning cannot be guessed.
 */
export const FrameType = {
  hello: 128,
  request: 129,
  response: 130,
  data: 131,
  end: 132,
  cancel: 133,
  error: 134,
  credit: 135,
  ping: 136,
  pong: 137,
  text: 138,
  binary: 139,
  socketClose: 140,
} as const;

export type FrameType = typeof FrameType[keyof typeof FrameType];

/** Type, id and length. */
export const frameHeaderBytes: Bytes = 9;
/** One frame never delays another exchange's next token by more than this. */
export const payloadBytesMax: Bytes = 16 * KiB;

/** @param payload Valid until the call returns. */
export type OnFrame = (type: number, id: number, payload: Uint8Array) => void;

/**
 * Cuts a stream of bytes, arriving in pieces of any size, into frames. Copies only frames that were cut.
 * Holds at most one frame.
 */
export class FrameReader {
  /** The start of a frame whose rest has not arrived. */
  private readonly partial = new Uint8Array(frameHeaderBytes + payloadBytesMax);
  private partialBytes = 0;

  /**
   * @param chunk The next bytes; not kept.
   * @throws {OtelaError} `lane_failed` on a length above the bound; the lane cannot go on.
   */
  push(chunk: Uint8Array, onFrame: OnFrame): void {
    let at = 0;
    if (this.partialBytes > 0) {
      at = this.complete(chunk, onFrame);
      if (this.partialBytes > 0) return;
    }
    while (chunk.length - at >= frameHeaderBytes) {
      const length = payloadLength(chunk, at);
      const end = at + frameHeaderBytes + length;
      if (end > chunk.length) break;
      onFrame(chunk[at], readU32(chunk, at + 1), chunk.subarray(at + frameHeaderBytes, end));
      at = end;
    }
    this.partial.set(at === 0 ? chunk : chunk.subarray(at));
    this.partialBytes = chunk.length - at;
  }

  /** Feeds the cut frame first. @returns How much of the chunk it took. */
  private complete(chunk: Uint8Array, onFrame: OnFrame): number {
    let at = this.fillTo(frameHeaderBytes, chunk, 0);
    if (this.partialBytes < frameHeaderBytes) return at;
    const end = frameHeaderBytes + payloadLength(this.partial, 0);
    at = this.fillTo(end, chunk, at);
    if (this.partialBytes < end) return at;
    this.partialBytes = 0;
    onFrame(
      this.partial[0],
      readU32(this.partial, 1),
      this.partial.subarray(frameHeaderBytes, end),
    );
    return at;
  }

  private fillTo(end: number, chunk: Uint8Array, from: number): number {
    const count = Math.min(end - this.partialBytes, chunk.length - from);
    if (count <= 0) return from;
    this.partial.set(chunk.subarray(from, from + count), this.partialBytes);
    this.partialBytes += count;
    return from + count;
  }
}

function payloadLength(bytes: Uint8Array, at: number): number {
  const length = readU32(bytes, at + 5);
  if (length <= payloadBytesMax) return length;
  throw new OtelaError(
    "lane_failed",
    `Cannot read a frame as its payload must have at most ${payloadBytesMax} bytes: got ${length}`,
  );
}
