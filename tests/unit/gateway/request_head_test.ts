import { deepEqual, equal, match } from "node:assert/strict";
import { isLoopback } from "../../../lib/gateway/loopback.ts";
import { isRequestId, requestIds } from "../../../lib/gateway/request_context.ts";
import { readRequestHead } from "../../../lib/gateway/request_head.ts";

Deno.test("readRequestHead takes all headers in one list, names in lower case", () => {
  const head = readRequestHead(new Headers({ "X-Request-ID": "r1", Accept: "a, b", Origin: "o" }));
  deepEqual(head.headers, ["accept", "a, b", "origin", "o", "x-request-id", "r1"]);
  deepEqual([head.requestId, head.origin, head.fault], ["r1", "o", ""]);
});

Deno.test("C019: readRequestHead finds fault with a host that is more than one", () => {
  equal(readRequestHead(new Headers({ host: "[::1]:80" })).fault, "");
  for (const host of ["h/path", "h?x", "user@h", "a, b"]) {
    match(readRequestHead(new Headers({ host })).fault, /host/, host);
  }
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
