import { deepEqual, throws } from "node:assert/strict";
import { probeMessageBytesMax } from "../../../lib/membership/probe_message.ts";
import { ProbeFrameReader } from "../../../lib/membership/probe_frames.ts";
import { frameMessage } from "../../../lib/base/message_frames.ts";

const framing = { lengthBytes: 2, messageBytesMax: probeMessageBytesMax, name: "probe" } as const;

Deno.test("ProbeFrameReader gives back every message, cut at each byte", () => {
  const messages = [Uint8Array.of(1), new Uint8Array(0), new Uint8Array(700).fill(7)];
  const bytes = messages.flatMap((message) => [...frameMessage(framing, message)]);
  for (let cut = 0; cut <= bytes.length; cut++) {
    const reader = new ProbeFrameReader();
    const pieces = [bytes.slice(0, cut), bytes.slice(cut)].map((piece) => Uint8Array.from(piece));
    const read = pieces.flatMap((piece) => {
      const whole = reader.take(piece);
      piece.fill(0xee); // The chunk belongs to the caller again.
      return whole;
    });
    deepEqual(read, messages);
  }
});

Deno.test("ProbeFrameReader refuses a length above its bound before the bytes come", () => {
  const tooLong = probeMessageBytesMax + 1;
  throws(
    () => new ProbeFrameReader().take(Uint8Array.of(tooLong >> 8, tooLong & 0xff)),
    /Cannot read a probe message as it must have at most 16384 bytes: got 16385/,
  );
});
