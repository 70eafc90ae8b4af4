// How is a byte stream cut into probe messages?
//
// Each message: u16 length (big-endian), then CBOR of that length, at most 16 KiB.
import { OtelaError } from "../base/errors.ts";
import { encodeProbeMessage, type ProbeMessage, probeMessageBytesMax } from "./probe_message.ts";

const lengthBytes = 2;

/** A message of our own with its length before it. */
export function frameProbeMessage(message: ProbeMessage): Uint8Array {
  const body = encodeProbeMessage(message);
  const framed = new Uint8Array(lengthBytes + body.byteLength);
  new DataView(framed.buffer).setUint16(0, body.byteLength);
  framed.set(body, lengthBytes);
  return framed;
}

/** Collects chunks until messages are whole; holds at most one message. */
export class ProbeFrameReader {
  #held = new Uint8Array(0);

  /**
   * @param chunk Untrusted, cut anywhere; not kept.
   * @returns The messages that are whole now, undecoded.
   * @throws {OtelaError} `bad_request` when a message is announced that is too long: end the stream.
   */
  take(chunk: Uint8Array): Uint8Array[] {
    const bytes = new Uint8Array(this.#held.byteLength + chunk.byteLength);
    bytes.set(this.#held);
    bytes.set(chunk, this.#held.byteLength);
    const view = new DataView(bytes.buffer);
    const messages: Uint8Array[] = [];
    let at = 0;
    while (bytes.byteLength - at >= lengthBytes) {
      const length = view.getUint16(at);
      if (length > probeMessageBytesMax) {
        throw new OtelaError(
          "bad_request",
          `Cannot read a probe message as it must have at most ${probeMessageBytesMax} bytes: got ${length}`,
        );
      }
      if (bytes.byteLength - at - lengthBytes < length) break;
      messages.push(bytes.subarray(at + lengthBytes, at + lengthBytes + length));
      at += lengthBytes + length;
    }
    this.#held = bytes.slice(at);
    return messages;
  }
}
