// How does a head, with the first bytes of its body, fit into frames?
import { OtelaError } from "../base/errors.ts";
import type { Bytes } from "../base/units.ts";
import { readU32, writeU32 } from "../base/u32.ts";
import { type FrameType, payloadBytesMax } from "./frame.ts";
import type { FrameWriter } from "./frame_writer.ts";
import { headBytesMax } from "./head.ts";

/** First payload byte of a head frame. */
const Flag = { more: 1, end: 2 } as const;
/** Flags and the head's whole length; later frames of the same head carry the flags alone. */
const prefixBytes = 5;

/**
 * Writes a head and as much of a body as fits beside it.
 * @param body The first bytes of the body, or all of it; may be empty.
 * @param isEnd Whether `body` is the whole body: only then, and only if it fits, the frame ends the exchange's direction.
 * @returns Bytes of the body that were written, and whether the end was.
 */
export function writeHead(
  writer: FrameWriter,
  type: typeof FrameType.request | typeof FrameType.response,
  id: number,
  head: Uint8Array,
  body: Uint8Array,
  isEnd: boolean,
): { bodyBytes: Bytes; isEnded: boolean } {
  let headAt = 0;
  let prefix = prefixBytes;
  for (;;) {
    const headBytes = Math.min(head.length - headAt, payloadBytesMax - prefix);
    const isLast = headAt + headBytes === head.length;
    const bodyBytes = isLast ? Math.min(body.length, payloadBytesMax - prefix - headBytes) : 0;
    const isEnded = isLast && isEnd && bodyBytes === body.length;
    const at = writer.begin(type, id, prefix + headBytes + bodyBytes);
    const buffer = writer.buffer;
    buffer[at] = (isLast ? 0 : Flag.more) | (isEnded ? Flag.end : 0);
    if (prefix === prefixBytes) writeU32(buffer, at + 1, head.length);
    buffer.set(
      headAt === 0 && isLast ? head : head.subarray(headAt, headAt + headBytes),
      at + prefix,
    );
    if (bodyBytes > 0) buffer.set(body.subarray(0, bodyBytes), at + prefix + headBytes);
    if (isLast) return { bodyBytes, isEnded };
    headAt += headBytes;
    prefix = 1;
  }
}

/** A head that has arrived whole. */
export type ReceivedHead = {
  readonly head: Uint8Array;
  /** First bytes of the body; valid until the call returns. */
  readonly body: Uint8Array;
  readonly isEnd: boolean;
};

/** Puts the frames of one head together; a head in one frame is not copied. */
export class HeadAssembler {
  private parts: Uint8Array | undefined;
  private filledBytes = 0;

  /** @returns The head once complete. @throws {OtelaError} `lane_failed` on a malformed or too large head. */
  push(payload: Uint8Array): ReceivedHead | undefined {
    const flags = payload[0];
    const isMore = (flags & Flag.more) !== 0;
    if (!this.parts) {
      if (payload.length < prefixBytes) throw badHead("shorter than its prefix");
      const headBytes = readU32(payload, 1);
      if (headBytes > headBytesMax) throw badHead(`${headBytes} bytes long`);
      const end = prefixBytes + headBytes;
      if (!isMore) {
        if (end > payload.length) throw badHead("cut off");
        return received(payload.subarray(prefixBytes, end), payload.subarray(end), flags);
      }
      this.parts = new Uint8Array(headBytes);
      return this.fill(payload.subarray(prefixBytes), flags);
    }
    return this.fill(payload.subarray(1), flags);
  }

  private fill(piece: Uint8Array, flags: number): ReceivedHead | undefined {
    const parts = this.parts!;
    const count = Math.min(piece.length, parts.length - this.filledBytes);
    parts.set(piece.subarray(0, count), this.filledBytes);
    this.filledBytes += count;
    const isMore = (flags & Flag.more) !== 0;
    if (isMore !== this.filledBytes < parts.length) throw badHead("not as long as it said");
    return isMore ? undefined : received(parts, piece.subarray(count), flags);
  }
}

function received(head: Uint8Array, body: Uint8Array, flags: number): ReceivedHead {
  return { head, body, isEnd: (flags & Flag.end) !== 0 };
}

function badHead(what: string): OtelaError {
  return new OtelaError("lane_failed", `Cannot read a head on a lane as it is ${what}`);
}
