// How is a byte stream cut into sync messages?
//
// Each message: u32 length (big-endian), then CBOR of that length, at most 64 KiB.
import { encodeCbor } from "../base/cbor.ts";
import { frameMessage, MessageFrameReader, type MessageFraming } from "../base/message_frames.ts";
import { type Bytes, KiB } from "../base/units.ts";

/** Longest message, without its length. */
export const syncMessageBytesMax: Bytes = 64 * KiB;

const framing: MessageFraming = {
  lengthBytes: 4,
  messageBytesMax: syncMessageBytesMax,
  name: "sync",
};

/** A message of our own with its length before it. */
export function frameSyncMessage(message: readonly unknown[]): Uint8Array {
  return frameMessage(framing, encodeCbor(message));
}

/** Collects chunks of one sync stream until messages are whole. */
export class SyncFrameReader extends MessageFrameReader {
  constructor() {
    super(framing);
  }
}
