import { deepEqual, equal, match } from "node:assert/strict";
import { isLoopback } from "../../../lib/gateway/loopback.ts";
import { isRequestId, requestIds } from "../../../lib/gateway/request_context.ts";
import { readRequestHead } from "../../../lib/gateway/request_head.ts";

Deno.test("readRequestHead takes all headers in one list, names in lower case", () => {
  const head = readRequestHead(new Headers({ "X-Request-ID": "r1", Accept: "a, b", Origin: "o" }));
  deepEqual(head.headers, ["accept", "a, b", "origin", "o", "x-request-id", "r1"]);
  deepEqual([head.requestId, head.origin, head.fault], ["r1", "o", ""]);
});

Deno.test("C019: readRequestHead finds fault with framing that two hops may read differently", () => {
  const fine: Record<string, string>[] = [{ "transfer-encoding": "Chunked" }, {
    "content-length": "0",
  }, {
    host: "[::1]:80",
  }];
  for (const headers of fine) equal(readRequestHead(new Headers(headers)).fault, "");
  for (
    const [name, value] of [
      ["transfer-encoding", "gzip, chunked"],
      ["transfer-encoding", "chunked, chunked"],
      ["transfer-encoding", "chunked;q=1"],
      ["content-length", "3, 3"],
      ["content-length", "+3"],
      ["content-length", ""],
      ["content-length", "0x3"],
      ["host", "h/path"],
      ["host", "h?x"],
      ["host", "user@h"],
    ]
  ) {
    match(
      readRequestHead(new Headers({ [name]: value })).fault,
      new RegExp(name),
      `${name}: ${value}`,
    );
  }
});

Deno.test("C019: readRequestHead finds fault with a length beside a transfer-encoding", () => {
  const both = new Headers({ "content-length": "4", "transfer-encoding": "chunked" });
  match(readRequestHead(both).fault, /both/);
});

Deno.test("isRequestId accepts what may stand in a log line, and nothing longer than its bound", () => {
  for (const id of ["a", "req_0123:ab.c-d", "x".repeat(128), "00-4bf9-00f0-01", "a/b+c=="]) {
    equal(isRequestId(id), true, id);
  }
  for (const id of ["", " ", "a b", 'a"', "a\nb", "-a", "é", "x".repeat(129), "<a>"]) {
    equal(isRequestId(id), false, id);
  }
});

Deno.test("requestIds never repeats itself, and its ids are sane", () => {
  const next = requestIds("0a1b2c3d4e5f");
  const ids = new Set(Array.from({ length: 1_000 }, next));
  equal(ids.size, 1_000);
  for (const id of ids) equal(isRequestId(id), true);
});

Deno.test("isLoopback knows this machine's addresses, and no name that only looks like one", () => {
  for (const address of ["", "127.0.0.1", "127.9.8.7", "::1", "::ffff:127.0.0.1"]) {
    equal(isLoopback(address), true, address);
  }
  for (
    const address of ["10.0.0.1", "127.0.0.1.evil.example", "::ffff:10.0.0.1", "fe80::1", "::"]
  ) {
    equal(isLoopback(address), false, address);
  }
});
