// How do heads and pieces of bodies look as bytes?
import { ByteSlab } from "../base/byte_slab.ts";

const slab = new ByteSlab();
const hexDigits = "0123456789abcdef";

/** A head and what there is of its body in one piece, for one write. @param head Latin-1. */
export function joinHead(head: string, body: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = slab.take(head.length + body.length);
  for (let i = 0; i < head.length; i++) bytes[i] = head.charCodeAt(i);
  bytes.set(body, head.length);
  return bytes;
}

/** One piece of a body whose length is unknown (RFC 9112 §7.1). @param piece Not empty. */
export function encodeChunk(piece: Uint8Array): Uint8Array<ArrayBuffer> {
  const { length } = piece;
  let digits = 1;
  for (let rest = length; rest >= 16; rest = Math.floor(rest / 16)) digits++;
  const chunk = slab.take(digits + length + 4);
  for (let at = digits - 1, rest = length; at >= 0; at--, rest = Math.floor(rest / 16)) {
    chunk[at] = hexDigits.charCodeAt(rest % 16);
  }
  chunk[digits] = 0x0d;
  chunk[digits + 1] = 0x0a;
  chunk.set(piece, digits + 2);
  chunk[digits + length + 2] = 0x0d;
  chunk[digits + length + 3] = 0x0a;
  return chunk;
}

/** Ends such a body. */
export function lastChunk(): Uint8Array<ArrayBuffer> {
  return slab.copy(last);
}

const last = new TextEncoder().encode("0\r\n\r\n");
