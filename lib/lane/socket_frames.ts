// How does the end of a WebSocket travel?
import type { Bytes } from "../base/units.ts";

/** RFC 6455: a close frame's reason has at most 123 bytes. */
const reasonBytesMax: Bytes = 123;
/** "Abnormal closure": what is reported when a peer said nothing. */
const abnormalCode = 1006;

/** @param code 1000 … 4999. @param reason Cut to what a close frame holds. */
export function closePayload(code: number, reason: string): Uint8Array {
  const payload = new Uint8Array(2 + reasonBytesMax);
  payload[0] = code >>> 8;
  payload[1] = code;
  // Writes whole characters alone, so that the cut leaves valid UTF-8.
  const { written } = new TextEncoder().encodeInto(reason, payload.subarray(2));
  return payload.subarray(0, 2 + written);
}

/**
 * A close from the other side; malformed ones count as abnormal. The reason fits a close frame again: bytes that
 * are no UTF-8 grow when they are read, and a WebSocket throws at a longer one.
 */
export function readClose(payload: Uint8Array): { code: number; reason: string } {
  if (payload.length < 2) return { code: abnormalCode, reason: "" };
  const reason = new TextDecoder().decode(payload.subarray(2, 2 + reasonBytesMax));
  return { code: (payload[0] << 8) | payload[1], reason: cutReason(reason) };
}

/** As many whole characters of a reason as a close frame holds. */
export function cutReason(reason: string): string {
  const { read } = new TextEncoder().encodeInto(reason, new Uint8Array(reasonBytesMax));
  return reason.slice(0, read);
}
