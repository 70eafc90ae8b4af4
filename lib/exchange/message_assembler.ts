// How are the parts of one WebSocket message put together?
import { type Bytes, MiB } from "../base/units.ts";

/** As large as the largest message that engines' realtime endpoints are known to take. A guess. */
const messageBytesMax: Bytes = 16 * MiB;

/** Collects one message at a time, in one growing buffer: a thousand tiny parts cost no more than their bytes. */
export class MessageAssembler {
  private buffer = new Uint8Array(0);
  private filledBytes: Bytes = 0;

  /**
   * @param part Copied.
   * @returns The message when this was its last part; `too_large` ends the session.
   */
  push(part: Uint8Array, isLast: boolean): Uint8Array<ArrayBuffer> | undefined | "too_large" {
    const bytes = this.filledBytes + part.length;
    if (bytes > messageBytesMax) return "too_large";
    if (isLast && this.filledBytes === 0) return part.slice();
    if (bytes > this.buffer.length) this.grow(bytes);
    this.buffer.set(part, this.filledBytes);
    this.filledBytes = bytes;
    if (!isLast) return undefined;
    const message = this.buffer.subarray(0, bytes);
    this.buffer = new Uint8Array(0);
    this.filledBytes = 0;
    return message;
  }

  private grow(bytes: Bytes): void {
    const larger = new Uint8Array(
      Math.min(messageBytesMax, Math.max(bytes, 2 * this.buffer.length)),
    );
    larger.set(this.buffer.subarray(0, this.filledBytes));
    this.buffer = larger;
  }
}
