// Is a request read the same however its bytes are cut, and refused where it could be read two ways?
import { deepEqual, equal, ok, throws } from "node:assert/strict";
import fc from "fast-check";
import { type ErrorCode, OtelaError } from "../../../lib/base/errors.ts";
import type { RequestHead } from "../../../lib/http/request_reader.ts";
import {
  byteByByte,
  cutAfter,
  latin1,
  latin1Text,
  readRequests,
  recordRequests,
} from "../../support/request_record.ts";

const readText = (text: string) => readRequests([latin1(text)]).seen;
const headOf = (text: string): RequestHead => readText(text)[0].head;

Deno.test("RequestReader reads requests without a body, with a length and in pieces", () => {
  const seen = readText(
    "GET /a?b=%20 HTTP/1.1\r\nHost: head.example\r\nX-A:\t1 \r\n\r\n" +
      "POST /b HTTP/1.1\r\nhost: h\r\nContent-Length: 3\r\n\r\nabc" +
      "PUT /c HTTP/1.1\r\nhost: h\r\nTransfer-Encoding: Chunked\r\n\r\n" +
      '3;x="y"\r\nabc\r\n0A \r\n0123456789\r\n00\r\nX-Sum: 1\r\n\r\n' +
      "DELETE /d HTTP/1.1\r\nhost: h\r\ncontent-length: 0\r\n\r\n",
  );
  deepEqual(
    seen.map(({ head, body, trailers }) => [head.method, head.target, body, trailers]),
    [
      ["GET", "/a?b=%20", "", []],
      ["POST", "/b", "abc", []],
      ["PUT", "/c", "abc0123456789", ["x-sum", "1"]],
      ["DELETE", "/d", "", []],
    ],
  );
  deepEqual(seen.map(({ head }) => head.bodyBytes), [0, 3, -1, 0]);
  deepEqual(seen[0].head, {
    method: "GET",
    target: "/a?b=%20",
    headers: ["host", "head.example", "x-a", "1"],
    host: "head.example",
    isOld: false,
    isKept: true,
    bodyBytes: 0,
    isAsking: false,
  });
});

Deno.test("RequestReader passes empty lines over before a request, and reads lines that end with LF alone", () => {
  const seen = readText(
    "\r\n\n\r\nPOST / HTTP/1.1\nhost: h\ntransfer-encoding: chunked\n\n2\nab\n0\n\n" +
      "\r\nGET /next HTTP/1.1\nhost: h\n\n",
  );
  deepEqual(seen.map(({ head, body }) => [head.target, body]), [["/", "ab"], ["/next", ""]]);
});

Deno.test("RequestReader reads HTTP/1.0, which needs no host", () => {
  const { host, isOld, headers } = headOf("GET / HTTP/1.0\r\n\r\n");
  deepEqual([host, isOld, headers], ["", true, []]);
});

Deno.test("RequestReader says whether the client would send another request", () => {
  const kept = (version: string, connection: string) =>
    headOf(`GET / HTTP/${version}\r\nhost: h\r\n${connection}\r\n`).isKept;
  equal(kept("1.1", ""), true);
  equal(kept("1.1", "Connection: keep-alive\r\n"), true);
  equal(kept("1.1", "Connection: Close\r\n"), false);
  equal(kept("1.1", "connection: x , close\r\n"), false);
  equal(kept("1.1", "connection: upgrade\r\nconnection: close\r\n"), false);
  equal(kept("1.1", "connection: closed\r\n"), true);
  equal(kept("1.0", ""), false);
  equal(kept("1.0", "connection: Keep-Alive\r\n"), true);
});

Deno.test("RequestReader says who waits for 100 Continue", () => {
  const asks = (start: string, fields: string) =>
    headOf(`${start}\r\nhost: h\r\nExpect: 100-Continue\r\n${fields}\r\n`).isAsking;
  equal(asks("POST / HTTP/1.1", "content-length: 3\r\n"), true);
  equal(asks("POST / HTTP/1.1", "transfer-encoding: chunked\r\n"), true);
  equal(asks("POST / HTTP/1.1", ""), false);
  equal(asks("POST / HTTP/1.1", "content-length: 0\r\n"), false);
  equal(asks("POST / HTTP/1.0", "content-length: 3\r\n"), false);
  equal(
    headOf("POST / HTTP/1.1\r\nhost: h\r\nexpect: x\r\ncontent-length: 1\r\n\r\n").isAsking,
    false,
  );
});

Deno.test("RequestReader joins headers of one name, cookies by their own rule, and keeps Latin-1 bytes", () => {
  const { headers } = headOf(
    "GET / HTTP/1.1\r\nx-a: 1\r\nCookie: a=1\r\nhost: h\r\nX-A: \xe9\r\ncookie: b=2\r\nx-a:\r\nx-b: 4\r\n\r\n",
  );
  deepEqual(headers, ["x-a", "1, \xe9, ", "cookie", "a=1; b=2", "host", "h", "x-b", "4"]);
});

Deno.test("RequestReader takes whole URLs and * as targets", () => {
  const target = (start: string) => headOf(`${start} HTTP/1.1\r\nhost: h\r\n\r\n`).target;
  equal(target("GET http://other.example/x?y"), "http://other.example/x?y");
  equal(target("GET HTTPS://other.example"), "HTTPS://other.example");
  equal(target("OPTIONS *"), "*");
  equal(target("GET //a/../b"), "//a/../b");
});

Deno.test("RequestReader stops behind a request, and reads nothing more before it is told to", () => {
  const { seen, reader } = recordRequests();
  const first = "POST /1 HTTP/1.1\r\nhost: h\r\ncontent-length: 2\r\n\r\nab";
  const bytes = latin1(`xx${first}GET /2 HTTP/1.1\r\nhost: h\r\n\r\n`);
  const end = 2 + first.length;
  equal(reader.push(bytes, 2), end);
  equal(reader.push(bytes, end), end, "the next one is not expected yet");
  deepEqual(seen.map(({ head }) => head.target), ["/1"]);
  reader.next();
  equal(reader.push(bytes, end), bytes.length);
  deepEqual(seen.map(({ head }) => head.target), ["/1", "/2"]);
});

Deno.test("RequestReader knows when it is within a request", () => {
  const { reader } = recordRequests();
  const states: [text: string, isWithin: boolean][] = [
    ["\r\n", false],
    ["G", true],
    ["ET / HTTP/1.1\r\nhost: h\r\ncontent-length: 2\r\n\r\n", true],
    ["a", true],
    ["b", false],
  ];
  equal(reader.isWithin, false);
  for (const [text, isWithin] of states) {
    reader.push(latin1(text), 0);
    equal(reader.isWithin, isWithin, JSON.stringify(text));
  }
  reader.next();
  equal(reader.isWithin, false);
});

/** A request whose head has so many bytes. */
const headOfBytes = (bytes: number): string => {
  const start = "GET / HTTP/1.1\r\nhost: h\r\nx: ";
  return `${start}${"x".repeat(bytes - start.length - 4)}\r\n\r\n`;
};
const manyHeaders = (count: number): string =>
  `GET / HTTP/1.1\r\n${
    Array.from({ length: count - 1 }, (_, i) => `x-${i}: ${i}\r\n`).join("")
  }host: h\r\n\r\n`;

Deno.test("RequestReader reads a head of 64 KiB and one of 100 headers, however they are cut", () => {
  for (const text of [headOfBytes(65_536), manyHeaders(100)]) {
    for (const pieces of [[latin1(text)], byteByByte(text)]) {
      equal(readRequests(pieces).seen[0].head.host, "h");
    }
  }
});

const get = "GET / HTTP/1.1\r\nhost: h\r\n";
const post = "POST / HTTP/1.1\r\nhost: h\r\n";
const chunked = `${post}transfer-encoding: chunked\r\n\r\n`;
const refused: Record<string, string> = {
  "no host in HTTP/1.1": "GET / HTTP/1.1\r\nx: 1\r\n\r\n",
  "two lengths": `${post}content-length: 1\r\ncontent-length: 2\r\n\r\na`,
  "a length and pieces": `${post}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
  "pieces and a length": `${post}transfer-encoding: chunked\r\ncontent-length: 5\r\n\r\n0\r\n\r\n`,
  "another coding": `${post}transfer-encoding: gzip\r\n\r\n`,
  "another coding before pieces": `${post}transfer-encoding: gzip, chunked\r\n\r\n`,
  "another coding after pieces": `${post}transfer-encoding: chunked, identity\r\n\r\n`,
  "an empty coding": `${post}transfer-encoding:\r\n\r\n`,
  "pieces of pieces": `${post}transfer-encoding: chunked, chunked\r\n\r\n0\r\n\r\n`,
  "pieces in HTTP/1.0": "POST / HTTP/1.0\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
  "a length that is no number": `${post}content-length: x\r\n\r\n`,
  "a negative length": `${post}content-length: -1\r\n\r\n`,
  "a length with a sign": `${post}content-length: +1\r\n\r\n`,
  "a length in hex": `${post}content-length: 0x10\r\n\r\n`,
  "a list as length": `${post}content-length: 1, 1\r\n\r\n`,
  "an empty length": `${post}content-length:\r\n\r\n`,
  "a length beyond numbers": `${post}content-length: 99999999999999999999\r\n\r\n`,
  "a folded header": `${get}x-a: 1\r\n  2\r\n\r\n`,
  "a folded header that comes first": "GET / HTTP/1.1\r\n x-a: 1\r\nhost: h\r\n\r\n",
  "a header without colon": `${get}nonsense\r\n\r\n`,
  "a space before the colon": `${post}content-length : 1\r\n\r\na`,
  "a bare CR in a header": `${get}x-a: 1\rx-b: 2\r\n\r\n`,
  "a bare CR in the first line": "GET /\rx HTTP/1.1\r\nhost: h\r\n\r\n",
  "a zero byte": `${get}x-a: \0\r\n\r\n`,
  "a target without slash": "GET v1 HTTP/1.1\r\nhost: h\r\n\r\n",
  "more than * as target": "OPTIONS *x HTTP/1.1\r\nhost: h\r\n\r\n",
  "a tunnel": "CONNECT a.example:80 HTTP/1.1\r\nhost: a.example:80\r\n\r\n",
  "the preface of HTTP/2": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
  "HTTP/2.0": "GET / HTTP/2.0\r\nhost: h\r\n\r\n",
  "HTTP/3.0": "GET / HTTP/3.0\r\nhost: h\r\n\r\n",
  "HTTP/0.9": "GET /\r\n\r\n",
  "a version in lower case": "GET / http/1.1\r\nhost: h\r\n\r\n",
  "a method that is none": "G(T / HTTP/1.1\r\nhost: h\r\n\r\n",
  "a space before the method": " GET / HTTP/1.1\r\nhost: h\r\n\r\n",
  "two spaces": "GET  / HTTP/1.1\r\nhost: h\r\n\r\n",
  "a space in the target": "GET /a b HTTP/1.1\r\nhost: h\r\n\r\n",
  "a piece without size": `${chunked}\r\nab\r\n`,
  "a size that is no number": `${chunked}xyz\r\n`,
  "a size with a prefix": `${chunked}0x1\r\na\r\n`,
  "a negative size": `${chunked}-1\r\n`,
  "a size beyond numbers": `${chunked}fffffffffffffff\r\n`,
  "a piece longer than its size": `${chunked}1\r\nab\r\n`,
  "a piece with two CR": `${chunked}1\r\na\r\r\n`,
  "a size line without end": `${chunked}1;${"x".repeat(5_000)}`,
  "a folded trailer": `${chunked}0\r\nx-a: 1\r\n 2\r\n\r\n`,
};
const tooLarge: Record<string, string> = {
  "a head without end": `${get}x: ${"x".repeat(70_000)}`,
  "a head of more than 64 KiB": headOfBytes(65_537),
  "trailers without end": `${chunked}0\r\nx: ${"x".repeat(70_000)}`,
  "more than 100 headers": manyHeaders(101),
};
const table: [Record<string, string>, ErrorCode][] = [
  [refused, "bad_request"],
  [tooLarge, "headers_too_large"],
];
for (const [texts, code] of table) {
  for (const [what, text] of Object.entries(texts)) {
    Deno.test(`RequestReader refuses ${what}, in one piece and byte by byte`, () => {
      for (const pieces of [[latin1(text)], byteByByte(text)]) {
        throws(
          () => readRequests(pieces),
          (error) => error instanceof OtelaError && error.code === code,
        );
      }
    });
  }
}

/** A request and what must be read of it. */
const anyRequest = fc.record({
  method: fc.constantFrom("GET", "POST", "OPTIONS"),
  framing: fc.constantFrom("none", "length", "pieces"),
  body: fc.array(fc.uint8Array({ minLength: 1, maxLength: 300 }), { maxLength: 5 }),
  value: fc.stringMatching(/^[!-~\xa1-\xff]{0,40}$/),
  eol: fc.constantFrom("\r\n", "\n"),
  emptyLines: fc.nat(2),
  hasTrailer: fc.boolean(),
}).map(({ method, framing, body, value, eol, emptyLines, hasTrailer }) => {
  const whole = framing === "none" ? "" : body.map(latin1Text).join("");
  const fields = [`${method} /x HTTP/1.1`, "host: h", `x-v: ${value}`];
  if (framing === "length") fields.push(`content-length: ${whole.length}`);
  if (framing === "pieces") fields.push("transfer-encoding: chunked");
  const pieces = body.map((piece) =>
    `${piece.length.toString(16)}${eol}${latin1Text(piece)}${eol}`
  );
  const end = `0${eol}${hasTrailer ? `x-sum: 1${eol}` : ""}${eol}`;
  const bytes = framing === "pieces" ? pieces.join("") + end : whole;
  const trailers = framing === "pieces" && hasTrailer ? ["x-sum", "1"] : [];
  const text = `${eol.repeat(emptyLines)}${fields.join(eol)}${eol}${eol}${bytes}`;
  return { text, expected: { method, value, body: whole, trailers } };
});

Deno.test("RequestReader reads any requests the same, however they are cut", () => {
  fc.assert(fc.property(
    fc.array(anyRequest, { minLength: 1, maxLength: 4 }),
    fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 20 }),
    (requests, cuts) => {
      const bytes = latin1(requests.map(({ text }) => text).join(""));
      const { seen, reader } = readRequests(cutAfter(bytes, cuts));
      deepEqual(
        seen.map(({ head: { method, headers }, body, trailers }) => ({
          method,
          value: headers[3],
          body,
          trailers,
        })),
        requests.map(({ expected }) => expected),
      );
      equal(reader.isWithin, false);
    },
  ));
});

/** Bytes of any kind among what requests are made of, so that each part of one is met by each other. */
const anyPiece = fc.oneof(
  fc.uint8Array({ maxLength: 50 }),
  fc.constantFrom(
    ...[
      post,
      chunked,
      "\r\n",
      "\n",
      "\r",
      "content-length: 3\r\n\r\n",
      "3\r\nabc",
      "0\r\n",
      "x: y",
    ],
  ).map(latin1),
);

Deno.test("RequestReader never crashes or hangs on any bytes", () => {
  fc.assert(
    fc.property(fc.array(anyPiece, { maxLength: 30 }), (pieces) => {
      try {
        readRequests(pieces);
      } catch (error) {
        if (!(error instanceof OtelaError)) throw error;
        ok(["bad_request", "headers_too_large"].includes(error.code));
      }
    }),
    { numRuns: 1_000 },
  );
});
