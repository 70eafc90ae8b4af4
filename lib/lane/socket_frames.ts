// How does the end of a WebSocket travel?
import type { Bytes } from "../base/units.ts";

/** RFC 6455: a close frame's reason has at most 123 bytes. */
const reasonBytesMax: Bytes = 123;
/** "Abnormal closure": what is reported when a peer said nothing. */
const abnormalCode = 1006;

/** @param code 1000 … 4999. @param reason Cut to what a close frame holds. */
export function closePayload(code: number, reason: string): Uint8Array {
  const text = new TextEncoder().encode(reason).subarray(0, reasonBytesMax);
  const payload = new Uint8Array(2 + text.length);
  payload[0] = code >>> 8;
  payload[1] = code;
  payload.set(text, 2);
  return payload;
}

/** A close from the other side; malformed ones count as abnormal. */
export function readClose(payload: Uint8Array): { code: number; reason: string } {
  if (payload.length < 2) return { code: abnormalCode, reason: "" };
  const reason = new TextDecoder().decode(payload.subarray(2, 2 + reasonBytesMax));
  return { code: (payload[0] << 8) | payload[1], reason };
}
