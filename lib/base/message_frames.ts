// How is a byte stream cut into messages with a length before each?
import { OtelaError } from "./errors.ts";
import type { Bytes } from "./units.ts";

/** How the messages of one protocol are framed. */
export type MessageFraming = {
  /** Bytes of the length, which is big-endian. */
  readonly lengthBytes: 2 | 4;
  /** Longest message, without its length. */
  readonly messageBytesMax: Bytes;
  /** Stands in errors: `probe`, `sync`. */
  readonly name: string;
};

/** A message of our own with its length before it. */
export function frameMessage({ lengthBytes }: MessageFraming, message: Uint8Array): Uint8Array {
  const framed = new Uint8Array(lengthBytes + message.byteLength);
  const view = new DataView(framed.buffer);
  if (lengthBytes === 2) view.setUint16(0, message.byteLength);
  else view.setUint32(0, message.byteLength);
  framed.set(message, lengthBytes);
  return framed;
}

/** Collects chunks until messages are whole; holds at most one message. */
export class MessageFrameReader {
  readonly #framing: MessageFraming;
  #held = new Uint8Array(0);

  constructor(framing: MessageFraming) {
    this.#framing = framing;
  }

  /**
   * @param chunk Untrusted, cut anywhere; not kept.
   * @returns The messages that are whole now, undecoded.
   * @throws {OtelaError} `bad_request` when a message is announced that is too long: end the stream.
   */
  take(chunk: Uint8Array): Uint8Array[] {
    const { lengthBytes, messageBytesMax, name } = this.#framing;
    const bytes = this.#joined(chunk);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const messages: Uint8Array[] = [];
    let at = 0;
    while (bytes.byteLength - at >= lengthBytes) {
      const length = lengthBytes === 2 ? view.getUint16(at) : view.getUint32(at);
      if (length > messageBytesMax) {
        throw new OtelaError(
          "bad_request",
          `Cannot read a ${name} message as it must have at most ${messageBytesMax} bytes: got ${length}`,
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
