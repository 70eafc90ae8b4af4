import { deepEqual, equal, throws } from "node:assert/strict";
import { EventCounter } from "../../../bench/load/event_counter.ts";
import { ResponseReader } from "../../../bench/load/response_reader.ts";

/** Feeds a text in pieces of `size` bytes; the body, and after which piece the answer was complete. */
function read(text: string, size: number): { body: string; status: number; isComplete: boolean } {
  let body = "";
  const reader = new ResponseReader((bytes, from, to) => {
    body += new TextDecoder().decode(bytes.subarray(from, to));
  });
  const bytes = new TextEncoder().encode(text);
  let isComplete = false;
  for (let at = 0; at < bytes.length; at += size) {
    const piece = bytes.subarray(at, at + size);
    reader.space().set(piece);
    isComplete = reader.accept(piece.length);
  }
  return { body, status: reader.status, isComplete };
}

const sizes = [1, 2, 3, 7, 50, 1_000];

Deno.test("ResponseReader reads an answer with a length, wherever reads cut it", () => {
  const text = "HTTP/1.1 200 OK\r\nContent-Length: 11\r\nX: content-length: 3\r\n\r\nhello world";
  for (const size of sizes) {
    deepEqual(read(text, size), { body: "hello world", status: 200, isComplete: true });
  }
});

Deno.test("ResponseReader reads chunks, extensions and trailers, wherever reads cut them", () => {
  const text = "HTTP/1.1 502 Bad Gateway\r\ntransfer-encoding: chunked\r\n\r\n" +
    "5\r\nhello\r\n6 ;x\r\n world\r\n1A\r\nabcdefghijklmnopqrstuvwxyz\r\n0\r\nx-trailer: 1\r\n\r\n";
  for (const size of sizes) {
    deepEqual(read(text, size), {
      body: "hello worldabcdefghijklmnopqrstuvwxyz",
      status: 502,
      isComplete: true,
    });
  }
});

Deno.test("ResponseReader waits for the rest of a body", () => {
  equal(read("HTTP/1.1 200 OK\r\ncontent-length: 12\r\n\r\nhello world", 9).isComplete, false);
});

Deno.test("ResponseReader refuses an answer without a known end, and bytes after the end", () => {
  throws(() => read("HTTP/1.1 200 OK\r\n\r\n", 100), /neither a length nor chunks/);
  throws(() => read("HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nab", 100), /after the end/);
});

Deno.test("EventCounter counts events with data, with any line end and any cut, comments not", () => {
  const text = ": comment\n\ndata: 1\n\ndata: 2\ndata: 3\r\n\r\nid: 4\n\n: x\ndata: 5\n\n";
  const bytes = new TextEncoder().encode(text);
  for (const size of sizes) {
    const counter = new EventCounter();
    let count = 0;
    for (let at = 0; at < bytes.length; at += size) {
      count += counter.accept(bytes, at, Math.min(bytes.length, at + size));
    }
    equal(count, 3);
  }
});
