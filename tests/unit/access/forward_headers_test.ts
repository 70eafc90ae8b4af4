import { deepEqual } from "node:assert/strict";
import fc from "fast-check";
import { cleanRequestHeaders, cleanResponseHeaders } from "../../../lib/access/forward_headers.ts";

Deno.test("cleanRequestHeaders keeps what is the engine's business, byte for byte and in order", () => {
  const kept = [
    ...["accept", "text/event-stream", "x-api-version", " 2 ", "x-custom", "a", "x-custom", "b"],
    ...["content-type", "application/json; charset=UTF-8", "via", "1.1 x", "user-agent", "é\t"],
  ];
  deepEqual(cleanRequestHeaders(kept), kept);
  deepEqual(cleanRequestHeaders(["ACCEPT", "A"]), ["accept", "A"]);
});

Deno.test("cleanRequestHeaders drops one hop's headers, credentials, traces and trust", () => {
  const names = [
    ...[
      "Connection",
      "Keep-Alive",
      "Proxy-Authorization",
      "Proxy-Connection",
      "Proxy-X",
      "TE",
      "Trailer",
    ],
    ...[
      "Transfer-Encoding",
      "Upgrade",
      "HTTP2-Settings",
      "Authorization",
      "Cookie",
      "Expect",
      "Host",
    ],
    ...["Content-Length", "Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-IP"],
    ...["X-Otela-Client-Wallet", "X-Otela-Key-Hash", "X-Otela-Trust", "x-otela-anything"],
  ];
  for (const name of names) {
    deepEqual(cleanRequestHeaders([name, "close", "a", "1"]), ["a", "1"], name);
  }
});

Deno.test("cleanRequestHeaders drops what Connection names, wherever it stands and however often", () => {
  const list = [
    "x-hop",
    "1",
    "connection",
    "keep-alive, X-Hop",
    "a",
    "2",
    "Connection",
    "b",
    "b",
    "3",
  ];
  deepEqual(cleanRequestHeaders(list), ["a", "2"]);
});

Deno.test("cleanRequestHeaders agrees with a filter written from the rule", () => {
  const names = [
    "Connection",
    "x-a",
    "X-Otela-Z",
    "cookie",
    "te",
    "accept",
    "X-Forwarded-B",
    "hop",
  ];
  const pair = fc.tuple(
    fc.constantFrom(...names),
    fc.constantFrom("close", "hop", "x-a , Hop", "v"),
  );
  fc.assert(
    fc.property(fc.array(pair, { maxLength: 10 }), (pairs) => {
      const named = pairs.filter(([name]) => name === "Connection")
        .flatMap(([, value]) => value.split(",")).map((token) => token.trim().toLowerCase());
      const dropped = /^(connection|x-otela-.*|cookie|te|x-forwarded-.*)$/;
      const expected = pairs.map(([name, value]) => [name.toLowerCase(), value])
        .filter(([name]) => !dropped.test(name) && !named.includes(name)).flat();
      deepEqual(cleanRequestHeaders(pairs.flat()), expected);
    }),
  );
});

Deno.test("cleanResponseHeaders keeps cookies and lengths, drops CORS, hops and what the door sets", () => {
  const list = [
    ...[
      "Content-Type",
      "text/plain",
      "content-length",
      "5",
      "set-cookie",
      "a=1",
      "Set-Cookie",
      "b=2",
    ],
    ...[
      "access-control-allow-origin",
      "*",
      "Access-Control-Max-Age",
      "1",
      "connection",
      "close, x-hop",
    ],
    ...[
      "x-hop",
      "1",
      "transfer-encoding",
      "chunked",
      "proxy-authenticate",
      "x",
      "ocf-version",
      "1",
    ],
    ...["x-computing-node", "me", "X-Otela-Worker-Timing", "1", "alt-svc", "h3", "trailer", "x"],
    ...["x-usage-gpu-ms", "12", "retry-after", "3"],
  ];
  deepEqual(cleanResponseHeaders(list, "/v1/service/llm"), [
    ...[
      "content-type",
      "text/plain",
      "content-length",
      "5",
      "set-cookie",
      "a=1",
      "set-cookie",
      "b=2",
    ],
    ...["x-usage-gpu-ms", "12", "retry-after", "3"],
  ]);
});

Deno.test("C029: cleanResponseHeaders maps a redirect under the public prefix", () => {
  const list = ["Location", "/v1/chat/completions/", "content-length", "0"];
  const mapped = ["location", "/v1/service/llm/v1/chat/completions/", "content-length", "0"];
  deepEqual(cleanResponseHeaders(list, "/v1/service/llm"), mapped);
});
