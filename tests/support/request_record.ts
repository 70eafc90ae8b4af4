// What did a RequestReader make of bytes?
import { equal, ok } from "node:assert/strict";
import { type RequestHead, RequestReader } from "../../lib/http/request_reader.ts";

/** One request as it was read. */
export type SeenRequest = { head: RequestHead; body: string; trailers: string[] | undefined };

export const latin1 = (text: string): Uint8Array =>
  Uint8Array.from(text, (char) => char.charCodeAt(0));
export const latin1Text = (bytes: Uint8Array): string => String.fromCharCode(...bytes);

export function byteByByte(text: string): Uint8Array[] {
  return [...latin1(text)].map((byte) => Uint8Array.of(byte));
}

/** The bytes in pieces of these lengths, again and again. */
export function cutAfter(bytes: Uint8Array, lengths: readonly number[]): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const end = Math.min(bytes.length, at + lengths[i % lengths.length]);
    pieces.push(bytes.slice(at, end));
    at = end;
  }
  return pieces;
}

/** A reader, and what it has read. */
export function recordRequests(): { seen: SeenRequest[]; reader: RequestReader } {
  const seen: SeenRequest[] = [];
  const reader = new RequestReader({
    head: (head) => void seen.push({ head, body: "", trailers: undefined }),
    data: (chunk) => void (seen[seen.length - 1].body += latin1Text(chunk)),
    end: (trailers) => void (seen[seen.length - 1].trailers = trailers),
  });
  return { seen, reader };
}

/** Reads whatever requests there are, one after the other. @throws {Error} What the reader throws. */
export function readRequests(pieces: readonly Uint8Array[]): ReturnType<typeof recordRequests> {
  const { seen, reader } = recordRequests();
  for (const piece of pieces) {
    for (let at = 0; at < piece.length;) {
      const count = seen.length;
      const stopped = reader.push(piece, at);
      ok(stopped > at && stopped <= piece.length, "it moves on");
      ok(seen.length <= count + 1, "it reads one request at most");
      if (seen.at(-1)?.trailers) reader.next();
      else equal(stopped, piece.length, "it stops early only behind a request");
      at = stopped;
    }
  }
  return { seen, reader };
}
