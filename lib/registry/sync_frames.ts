// How is a byte stream cut into sync messages?
//
// Each message: u32 length (big-endian), then CBOR of that length, at most 64 KiB.
import { encodeCbor } from "../base/cbor.ts";
import { OtelaError } from "../base/errors.ts";
import { type Bytes, KiB } from "../base/units.ts";

/** Longest message, without its length. */
export const syncMessageBytesMax: Bytes = 64 * KiB;
const lengthBytes = 4;

/** A message of our own with its length before it. */
export function frameMessage(message: readonly unknown[]): Uint8Array {
  const body = encodeCbor(message);
  const framed = new Uint8Array(lengthBytes + body.byteLength);
  new DataView(framed.buffer).setUint32(0, body.byteLength);
  framed.set(body, lengthBytes);
  return framed;
}

/** Collects chunks until messages are whole; holds at most one message. */
export class SyncFrameReader {
  #held = new Uint8Array(0);

  /**
   * @param chunk Untrusted, cut anywhere; not kept.
   * @returns The messages that are whole now, undecoded.
   * @throws {OtelaError} `bad_request` when a message is announced that is too long: end the stream.
   */
  take(chunk: Uint8Array): Uint8Array[] {
    const bytes = this.#joined(chunk);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const messages: Uint8Array[] = [];
    let at = 0;
    while (bytes.byteLength - at >= lengthBytes) {
      const length = view.getUint32(at);
      if (length > syncMessageBytesMax) {
        throw new OtelaError(
          "bad_request",
          `Cannot read a sync message as it must have at most ${syncMessageBytesMax} bytes: got ${length}`,
        );
      }
      if (bytes.byteLength - at - lengthBytes < length) break;
      messages.push(bytes.slice(at + lengthBytes, at + lengthBytes + length));
      at += lengthBytes + length;
    }
    this.#held = bytes.slice(at);
    return messages;
  }

  #joined(chunk: Uint8Array): Uint8Array {
    if (this.#held.byteLength === 0) return chunk;
    const joined = new Uint8Array(this.#held.byteLength + chunk.byteLength);
    joined.set(this.#held);
    joined.set(chunk, this.#held.byteLength);
    return joined;
  }
}
