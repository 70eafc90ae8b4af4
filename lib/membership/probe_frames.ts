// How is a byte stream cut into probe messages?
//
// Each message: u16 length (big-endian), then CBOR of that length, at most 16 KiB.
import { frameMessage, MessageFrameReader, type MessageFraming } from "../base/message_frames.ts";
import { encodeProbeMessage, type ProbeMessage, probeMessageBytesMax } from "./probe_message.ts";

const framing: MessageFraming = {
  lengthBytes: 2,
  messageBytesMax: probeMessageBytesMax,
  name: "probe",
};

/** A message of our own with its length before it. */
export function frameProbeMessage(message: ProbeMessage): Uint8Array {
  return frameMessage(framing, encodeProbeMessage(message));
}

/** Collects chunks of one probe stream until messages are whole. */
export class ProbeFrameReader extends MessageFrameReader {
  constructor() {
    super(framing);
  }
}
