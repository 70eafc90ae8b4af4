// How are the parts of one WebSocket message put together?
import { type Bytes, MiB } from "../base/units.ts";

/** As large as the largest message that engines' realtime endpoints are known to take. A guess. */
const messageBytesMax: Bytes = 16 * MiB;

/** Collects one message at a time; bounded. */
export class MessageAssembler {
  private parts: Uint8Array[] = [];
  private totalBytes: Bytes = 0;

  /**
   * @param part Copied.
   * @returns The message when this was its last part; `too_large` ends the session.
   */
  push(part: Uint8Array, isLast: boolean): Uint8Array<ArrayBuffer> | undefined | "too_large" {
    this.totalBytes += part.length;
    if (this.totalBytes > messageBytesMax) return "too_large";
    if (isLast && this.parts.length === 0) {
      this.totalBytes = 0;
      return part.slice();
    }
    this.parts.push(part.slice());
    if (!isLast) return undefined;
    const message = new Uint8Array(this.totalBytes);
    let at = 0;
    for (const piece of this.parts) {
      message.set(piece, at);
      at += piece.length;
    }
    this.parts = [];
    this.totalBytes = 0;
    return message;
  }
}
