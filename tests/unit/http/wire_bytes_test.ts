// Are heads and pieces of bodies right byte for byte, and does each have bytes of its own?
import { deepEqual, equal } from "node:assert/strict";
import { encodeChunk, joinHead, lastChunk } from "../../../lib/http/wire_bytes.ts";

const latin1 = (text: string) => Uint8Array.from(text, (char) => char.charCodeAt(0));

/** Bytes that differ from their neighbours. */
const bytesOf = (length: number) =>
  Uint8Array.from({ length }, (_, at) => (at * 31 + length) % 251);

Deno.test("encodeChunk puts the length in hex before a piece, and lines around it", () => {
  for (const n of [1, 15, 16, 26, 255, 256, 4_095, 4_096, 65_535, 65_536, 1_000_000]) {
    const piece = bytesOf(n);
    const chunk = encodeChunk(piece);
    const before = latin1(`${n.toString(16)}\r\n`);
    equal(chunk.length, before.length + n + 2, `${n}`);
    deepEqual(chunk.subarray(0, before.length), before);
    deepEqual(chunk.subarray(before.length, before.length + n), piece);
    deepEqual(chunk.subarray(before.length + n), latin1("\r\n"));
  }
});

Deno.test("joinHead puts a head in Latin-1 before a body", () => {
  deepEqual(
    joinHead("x: \xe9\xff\r\n\r\n", Uint8Array.of(0, 10, 255)),
    Uint8Array.of(...latin1("x: \xe9\xff\r\n\r\n"), 0, 10, 255),
  );
  deepEqual(joinHead("a\r\n", new Uint8Array(0)), latin1("a\r\n"));
  const large = bytesOf(100_000);
  deepEqual(joinHead("a", large).subarray(1), large);
});

Deno.test("lastChunk ends a body without trailers", () => {
  deepEqual(lastChunk(), latin1("0\r\n\r\n"));
});

Deno.test("joinHead, encodeChunk and lastChunk share no byte with each other or with what they were given", () => {
  const given = [1, 3, 40, 1_000, 2_040, 3_000].map(bytesOf);
  // Enough for several of the slabs from which small ones are cut.
  const made = Array.from({ length: 12 }, () => [
    ...given.map(encodeChunk),
    ...given.map((body) => joinHead("HTTP/1.1 200 OK\r\n\r\n", body)),
    lastChunk(),
  ]).flat();
  const all = [...given, ...made];
  const copies = all.map((bytes) => bytes.slice());
  for (const [index, bytes] of all.entries()) {
    bytes.fill(0xee);
    all.forEach((other, at) => {
      if (at !== index) deepEqual(other, copies[at]);
    });
    bytes.set(copies[index]);
  }
});
