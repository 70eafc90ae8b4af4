// How do two nodes show each other their admission tags?
import { timingSafeEqual } from "node:crypto";
import type { Stream, StreamMessageEvent } from "@libp2p/interface";
import type { Bytes } from "../base/units.ts";

/** A tag is this long, or empty in an open network. */
const tagBytes: Bytes = 32;

/** Sends our tag: one byte of length, then the tag. */
export function sendTag(stream: Stream, tag: Uint8Array): void {
  const frame = new Uint8Array(1 + tag.byteLength);
  frame[0] = tag.byteLength;
  frame.set(tag, 1);
  stream.send(frame);
}

/**
 * Calls back once, in the turn in which the other side's tag is complete: what it sends after its tag must already
 * find it admitted.
 * @param receive Gets the tag, or `undefined` when the stream ended without one or it cannot be one.
 */
export function receiveTag(stream: Stream, receive: (tag: Uint8Array | undefined) => void): void {
  const frame = new Uint8Array(1 + tagBytes);
  let filled = 0;
  const finish = (tag: Uint8Array | undefined) => {
    stream.removeEventListener("message", take);
    stream.removeEventListener("close", end);
    stream.removeEventListener("remoteCloseWrite", end);
    receive(tag);
  };
  const take = ({ data }: StreamMessageEvent) => {
    const bytes = data.subarray();
    if (filled + bytes.byteLength > frame.byteLength) return finish(undefined);
    frame.set(bytes, filled);
    filled += bytes.byteLength;
    if (frame[0] !== 0 && frame[0] !== tagBytes) return finish(undefined);
    if (filled === 1 + frame[0]) finish(frame.slice(1, filled));
  };
  const end = () => finish(undefined);
  if (stream.status !== "open") return receive(undefined);
  stream.addEventListener("message", take);
  stream.addEventListener("close", end);
  stream.addEventListener("remoteCloseWrite", end);
}

/** Compares in a time that does not depend on where they differ. */
export function isSameTag(one: Uint8Array, other: Uint8Array): boolean {
  return one.byteLength === other.byteLength && timingSafeEqual(one, other);
}
