// Is an engine's answer read the same however its bytes are cut, and refused where it could be read two ways?
import { deepEqual, equal, ok, throws } from "node:assert/strict";
import fc from "fast-check";
import { ResponseReader } from "../../../lib/engine/http_response.ts";

type Seen = {
  status: number;
  headers: string[];
  body: string;
  trailers: string[] | undefined;
  chunks: number;
};

const latin1 = (text: string) => Uint8Array.from(text, (char) => char.charCodeAt(0));
const textOf = (bytes: Uint8Array) => String.fromCharCode(...bytes);

/** Reads answers to requests of these methods, one after the other. */
function read(pieces: readonly Uint8Array[], methods: readonly string[] = ["GET"]) {
  const seen: Seen[] = [];
  const left = [...methods];
  const next = () => {
    const method = left.shift();
    if (method !== undefined) reader.expect(method);
  };
  const reader = new ResponseReader({
    head: (status, headers) =>
      seen.push({ status, headers, body: "", trailers: undefined, chunks: 0 }),
    data(chunk) {
      const last = seen[seen.length - 1];
      last.body += textOf(chunk);
      last.chunks++;
    },
    end(trailers) {
      seen[seen.length - 1].trailers = trailers;
      next();
    },
  });
  next();
  for (const piece of pieces) reader.push(piece);
  return { seen, reader };
}

const readText = (text: string, methods?: readonly string[]) => read([latin1(text)], methods);

Deno.test("ResponseReader reads a length, pieces with trailers, and a body that ends with its connection", () => {
  const { seen, reader } = readText(
    "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\ncontent-length: 3\r\n\r\nabc" +
      "HTTP/1.1 201 Created\r\ntransfer-encoding: chunked\r\n\r\n" +
      "3;x=y\r\nabc\r\n0A \r\n0123456789\r\n0\r\nX-Sum: 1\r\n\r\n" +
      "HTTP/1.0 200\r\n\r\nrest",
    ["GET", "POST", "GET"],
  );
  deepEqual(seen.map(({ status, body, trailers }) => [status, body, trailers]), [
    [200, "abc", []],
    [201, "abc0123456789", ["x-sum", "1"]],
    [200, "rest", undefined],
  ]);
  deepEqual(seen[0].headers, ["content-type", "text/plain", "content-length", "3"]);
  reader.close();
  deepEqual(seen[2].trailers, []);
});

Deno.test("ResponseReader knows which answers have no body, and passes interim ones over", () => {
  const { seen, reader } = readText(
    "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n" +
      "HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 304 Not Modified\r\ncontent-length: 7\r\n\r\n" +
      "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
    ["HEAD", "GET", "GET", "GET"],
  );
  deepEqual(seen.map(({ status, body, trailers }) => [status, body, trailers]), [
    [200, "", []],
    [204, "", []],
    [304, "", []],
    [200, "", []],
  ]);
  reader.close(); // Throws within an answer.
  ok(reader.isReusable);
});

Deno.test("ResponseReader says after which answers a connection may be used again", () => {
  const kept = (head: string) => {
    const { reader } = readText(`${head}\r\ncontent-length: 0\r\n\r\n`);
    return reader.isReusable;
  };
  equal(kept("HTTP/1.1 200 OK"), true);
  equal(kept("HTTP/1.1 200 OK\r\nConnection: Close"), false);
  equal(kept("HTTP/1.1 200 OK\r\nconnection: x, close"), false);
  equal(kept("HTTP/1.0 200 OK"), false);
  equal(kept("HTTP/1.0 200 OK\r\nconnection: keep-alive"), true);
  equal(readText("HTTP/1.1 200 OK\r\n\r\n").reader.isReusable, false);
});

Deno.test("ResponseReader keeps Latin-1 bytes and the order of repeated headers", () => {
  const { seen } = readText(
    "HTTP/1.1 200 OK\r\nx-a: \xe9\t \r\nset-cookie: 1\r\nSet-Cookie:2\r\n\r\n",
  );
  deepEqual(seen[0].headers, ["x-a", "\xe9", "set-cookie", "1", "set-cookie", "2"]);
});

Deno.test("ResponseReader reads lines that end with LF alone", () => {
  const { seen } = readText(
    "HTTP/1.1 200 OK\nx: 1\ntransfer-encoding: chunked\n\n2\nab\n0\n\n",
  );
  deepEqual([seen[0].headers[1], seen[0].body, seen[0].trailers], ["1", "ab", []]);
});

const head = "HTTP/1.1 200 OK\r\n";
const chunked = `${head}transfer-encoding: chunked\r\n\r\n`;
const refused: Record<string, string> = {
  "another protocol": "SSH-2.0-OpenSSH\r\n\r\n",
  "HTTP/2": "HTTP/2 200\r\n\r\n",
  "no status": "HTTP/1.1 OK\r\n\r\n",
  "a change of protocol": "HTTP/1.1 101 Switching Protocols\r\n\r\n",
  "two lengths": `${head}content-length: 1\r\ncontent-length: 2\r\n\r\n`,
  "a length and pieces": `${head}content-length: 1\r\ntransfer-encoding: chunked\r\n\r\n`,
  "a length that is none": `${head}content-length: -1\r\n\r\n`,
  "a length in hex": `${head}content-length: 0x10\r\n\r\n`,
  "a list as length": `${head}content-length: 1, 1\r\n\r\n`,
  "a folded header": `${head}x-a: 1\r\n  2\r\n\r\n`,
  "a header without colon": `${head}nonsense\r\n\r\n`,
  "a space before the colon": `${head}content-length : 1\r\n\r\n`,
  "a zero byte": `${head}x-a: \0\r\n\r\n`,
  "a bare CR": `${head}x-a: 1\rx-b: 2\r\n\r\n`,
  "a piece without size": `${chunked}\r\nab\r\n`,
  "a size that is no number": `${chunked}xyz\r\n`,
  "a size of two numbers": `${chunked}1 2\r\nab\r\n`,
  "a negative size": `${chunked}-1\r\n`,
  "a size beyond numbers": `${chunked}fffffffffffffff\r\n`,
  "a piece longer than its size": `${chunked}1\r\nab\r\n`,
  "a size line without end": `${chunked}1;${"x".repeat(5_000)}`,
  "a head without end": `${head}x: ${"x".repeat(70_000)}`,
  "trailers without end": `${chunked}0\r\nx: ${"x".repeat(70_000)}`,
  "interim answers without end": "HTTP/1.1 103 Hints\r\n\r\n".repeat(40),
  "more than was asked for": `${head}content-length: 1\r\n\r\nab`,
};
for (const [what, text] of Object.entries(refused)) {
  Deno.test(`ResponseReader refuses ${what}, in one piece and byte by byte`, () => {
    throws(() => readText(text), { code: "worker_failed" });
    throws(() => read([...latin1(text)].map((byte) => Uint8Array.of(byte))), {
      code: "worker_failed",
    });
  });
}

Deno.test("ResponseReader fails an answer that its connection's end cuts", () => {
  for (
    const text of ["", "HTTP/1.1 200", `${head}content-length: 2\r\n\r\na`, `${chunked}2\r\nab`]
  ) {
    const { reader } = readText(text);
    throws(() => reader.close(), { code: "worker_failed" });
  }
  const { reader } = readText(`${chunked}0\r\n\r\n`);
  reader.close();
});

/** An answer and what must be read of it. */
const anyAnswer = fc.record({
  method: fc.constantFrom("GET", "POST", "HEAD"),
  status: fc.constantFrom(200, 201, 204, 304, 404, 500),
  isChunked: fc.boolean(),
  interim: fc.nat(2),
  body: fc.array(fc.uint8Array({ minLength: 1, maxLength: 300 }), { maxLength: 5 }),
  trailer: fc.boolean(),
}).map(({ method, status, isChunked, interim, body, trailer }) => {
  const hasBody = method !== "HEAD" && status !== 204 && status !== 304;
  const whole = body.map(textOf).join("");
  const framing = isChunked ? "transfer-encoding: chunked" : `content-length: ${whole.length}`;
  const pieces = body.map((piece) => `${piece.length.toString(16)}\r\n${textOf(piece)}\r\n`).join(
    "",
  );
  const end = `0\r\n${trailer ? "x-sum: 1\r\n" : ""}\r\n`;
  const text = "HTTP/1.1 100 Continue\r\n\r\n".repeat(interim) +
    `HTTP/1.1 ${status} X\r\n${framing}\r\n\r\n` +
    (hasBody ? isChunked ? pieces + end : whole : "");
  const trailers = hasBody && isChunked && trailer ? ["x-sum", "1"] : [];
  return { method, text, expected: { status, body: hasBody ? whole : "", trailers } };
});

Deno.test("ResponseReader reads any answers the same, however they are cut", () => {
  fc.assert(fc.property(
    fc.array(anyAnswer, { minLength: 1, maxLength: 4 }),
    fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 20 }),
    (answers, cuts) => {
      const bytes = latin1(answers.map(({ text }) => text).join(""));
      const pieces: Uint8Array[] = [];
      for (let at = 0, i = 0; at < bytes.length; i++) {
        const end = Math.min(bytes.length, at + cuts[i % cuts.length]);
        pieces.push(bytes.slice(at, end));
        at = end;
      }
      const { seen, reader } = read(pieces, answers.map(({ method }) => method));
      deepEqual(
        seen.map(({ status, body, trailers }) => ({ status, body, trailers })),
        answers.map(({ expected }) => expected),
      );
      reader.close(); // Throws within an answer.
      ok(reader.isReusable);
    },
  ));
});

Deno.test("ResponseReader never crashes, hangs or holds much on any bytes", () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 30 }), (pieces) => {
      try {
        read([latin1(chunked), ...pieces]);
      } catch (error) {
        equal((error as { code?: string }).code, "worker_failed");
      }
    }),
  );
});
