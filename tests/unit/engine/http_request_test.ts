// Can nothing in a request's parts make an engine see two requests, or another one?
import { equal, throws } from "node:assert/strict";
import fc from "fast-check";
import { encodeRequestHead, type EngineRequestHead } from "../../../lib/engine/http_request.ts";

const get: EngineRequestHead = { method: "GET", path: "/", headers: [], bodyBytes: 0 };
const encode = (head: Partial<EngineRequestHead>) =>
  encodeRequestHead({ ...get, ...head }, "engine:8000");

Deno.test("encodeRequestHead writes a request as engines expect it", () => {
  equal(
    encode({ path: "/a%2Fb?x=1", headers: ["accept", "*/*", "x-b", "\xe9"] }),
    "GET /a%2Fb?x=1 HTTP/1.1\r\nhost: engine:8000\r\naccept: */*\r\nx-b: \xe9\r\n\r\n",
  );
  equal(
    encode({ method: "POST", bodyBytes: 0, headers: ["host", "other"] }),
    "POST / HTTP/1.1\r\nhost: other\r\ncontent-length: 0\r\n\r\n",
  );
  equal(
    encode({ method: "DELETE", bodyBytes: 12 }),
    "DELETE / HTTP/1.1\r\nhost: engine:8000\r\ncontent-length: 12\r\n\r\n",
  );
  equal(
    encode({ method: "PUT", bodyBytes: -1 }),
    "PUT / HTTP/1.1\r\nhost: engine:8000\r\ntransfer-encoding: chunked\r\n\r\n",
  );
});

Deno.test("encodeRequestHead refuses what an engine could read otherwise", () => {
  const bad: readonly Partial<EngineRequestHead>[] = [
    { method: "GET /x HTTP/1.1\r\nx:" },
    { method: "" },
    { path: "no-slash" },
    { path: "/with space" },
    { path: "/a\r\nb" },
    { path: "/\u0100" },
    { headers: ["x-a", "1\r\nx-b: 2"] },
    { headers: ["x-a", "1\n"] },
    { headers: ["x-a", "\0"] },
    { headers: ["x-a", "\u20ac"] },
    { headers: ["x a", "1"] },
    { headers: ["x:", "1"] },
    { headers: ["", "1"] },
    { headers: ["host", "a\r\nb"] },
    { headers: ["Transfer-Encoding", "chunked"] },
    ...["connection", "content-length", "expect", "keep-alive", "transfer-encoding", "upgrade"]
      .map((name) => ({ headers: [name, "1"] })),
  ];
  for (const part of bad) throws(() => encode(part), { code: "bad_request" }, JSON.stringify(part));
});

Deno.test("encodeRequestHead makes one head of whatever it takes", () => {
  fc.assert(fc.property(
    fc.string({ unit: "binary" }),
    fc.string({ unit: "binary" }),
    fc.string({ unit: "binary" }),
    (path, name, value) => {
      let text: string;
      try {
        text = encode({ path: `/${path}`, headers: [name, value] });
      } catch {
        return;
      }
      const lines = text.split("\r\n");
      equal(lines.length, name.toLowerCase() === "host" ? 4 : 5);
      equal(/[\r\n\0]/.test(lines.join("")), false);
      equal([...text].every((char) => char.charCodeAt(0) < 256), true);
    },
  ));
});
