// Does an answer's head say where its body ends, and can no header say more than one line?
import { equal, ok } from "node:assert/strict";
import fc from "fast-check";
import { type AnswerHead, encodeAnswerHead, isSendable } from "../../../lib/http/answer_head.ts";
import { joinHead } from "../../../lib/http/wire_bytes.ts";

const plain: AnswerHead = {
  status: 200,
  headers: [],
  framing: { kind: "none" },
  connection: "",
  date: "Thu, 01 Jan 1970 00:00:00 GMT",
};
const dated = "date: Thu, 01 Jan 1970 00:00:00 GMT\r\n\r\n";

Deno.test("encodeAnswerHead says how the client knows where the body ends", () => {
  const framed = (framing: AnswerHead["framing"]) => encodeAnswerHead({ ...plain, framing });
  equal(framed({ kind: "none" }), `HTTP/1.1 200 OK\r\n${dated}`);
  equal(
    framed({ kind: "length", bytes: 120 }),
    `HTTP/1.1 200 OK\r\ncontent-length: 120\r\n${dated}`,
  );
  equal(framed({ kind: "length", bytes: 0 }), `HTTP/1.1 200 OK\r\ncontent-length: 0\r\n${dated}`);
  equal(framed({ kind: "chunked" }), `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n${dated}`);
  equal(framed({ kind: "close" }), `HTTP/1.1 200 OK\r\n${dated}`);
});

Deno.test("encodeAnswerHead keeps a maker's headers in their order, repeated ones too", () => {
  const headers = ["x-b", "1", "set-cookie", "a=1", "set-cookie", "b=2", "x-a", "caf\xe9"];
  equal(
    encodeAnswerHead({ ...plain, headers, connection: "keep-alive" }),
    "HTTP/1.1 200 OK\r\nx-b: 1\r\nset-cookie: a=1\r\nset-cookie: b=2\r\nx-a: caf\xe9\r\n" +
      `connection: keep-alive\r\n${dated}`,
  );
});

Deno.test("encodeAnswerHead names the reasons that it knows, and leaves the space where it knows none", () => {
  const first = (status: number) => encodeAnswerHead({ ...plain, status }).split("\r\n", 1)[0];
  equal(first(404), "HTTP/1.1 404 Not Found");
  equal(first(503), "HTTP/1.1 503 Service Unavailable");
  equal(first(299), "HTTP/1.1 299 ");
});

Deno.test("encodeAnswerHead never repeats what the connection says itself, whatever a maker says", () => {
  const own = [
    ...["connection", "content-length", "date", "keep-alive", "proxy-connection", "trailer"],
    ...["transfer-encoding", "upgrade"],
  ];
  const headers = own.flatMap((name) => [name, "of-the-maker"]);
  const text = encodeAnswerHead({
    ...plain,
    headers: [...headers, "x-a", "1"],
    framing: { kind: "length", bytes: 3 },
    connection: "close",
  });
  equal(text, `HTTP/1.1 200 OK\r\nx-a: 1\r\ncontent-length: 3\r\nconnection: close\r\n${dated}`);
});

Deno.test("encodeAnswerHead tells an announced length only of an answer without a body", () => {
  const announced = "391";
  equal(
    encodeAnswerHead({ ...plain, status: 304, announced }),
    `HTTP/1.1 304 Not Modified\r\ncontent-length: 391\r\n${dated}`,
  );
  for (const framing of [{ kind: "chunked" }, { kind: "close" }] as const) {
    ok(!encodeAnswerHead({ ...plain, framing, announced }).includes("391"));
  }
  equal(
    encodeAnswerHead({ ...plain, framing: { kind: "length", bytes: 2 }, announced }),
    `HTTP/1.1 200 OK\r\ncontent-length: 2\r\n${dated}`,
  );
});

Deno.test("isSendable takes what stands on one line in Latin-1, and refuses the rest", () => {
  const values: [value: string, isSendable: boolean][] = [
    ["", true],
    ["text/plain; charset=utf-8", true],
    ["a\tb", true],
    ["caf\xe9\xff\x80", true],
    ["a\rb", false],
    ["a\nb", false],
    ["a\r\nx: 1", false],
    ["a\n", false],
    ["\0", false],
    ["\x7f", false],
    ["\x1b[31m", false],
    ["€", false],
    // Cut to a byte, these would be LF and CR.
    ["a\u010ab", false],
    ["a\u010db", false],
  ];
  for (const [value, expected] of values) {
    equal(isSendable("x-a", value), expected, JSON.stringify(value));
  }
  equal(isSendable("!#$%&'*+.^_`|~09AZaz-", ""), true);
  for (const name of ["", "a b", "a:", "a\r", "a\n", "a\0", "é", "(a)", "a\u010a"]) {
    equal(isSendable(name, "1"), false, JSON.stringify(name));
  }
});

/** Rather often what could end a line, also once it is cut to a byte. */
const anyText = fc.string({
  unit: fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(..."ab-:; \t\xe9\xff".split("")) },
    { weight: 1, arbitrary: fc.constantFrom(..."\r\n\0\u010a\u010d\u2028\x85".split("")) },
    { weight: 1, arbitrary: fc.string({ unit: "binary", minLength: 1, maxLength: 1 }) },
  ),
  maxLength: 12,
});

Deno.test("isSendable lets no header through that adds a line to a head", () => {
  const lines = (headers: string[]) => {
    const bytes = joinHead(encodeAnswerHead({ ...plain, headers }), new Uint8Array(0));
    return new TextDecoder("latin1").decode(bytes).split(/[\r\n\0]+/);
  };
  let sendable = 0;
  fc.assert(
    fc.property(fc.oneof(anyText, fc.constant("x-a")), anyText, (name, value) => {
      if (!isSendable(name, value)) return;
      sendable++;
      equal(lines([name, value]).length, lines(["date", ""]).length + (isOwn(name) ? 0 : 1));
    }),
    { numRuns: 2_000 },
  );
  ok(sendable > 200, "it lets enough through to say something");
});

function isOwn(name: string): boolean {
  return !encodeAnswerHead({ ...plain, headers: [name, ""] }).includes(`\n${name}: \r`);
}
