import { deepEqual } from "node:assert/strict";
import { parseServiceRequest } from "../../../lib/service/service_request.ts";
import { addressOf, upstreamHeaders } from "../../../lib/service/upstream.ts";

Deno.test("addressOf splits a URL into origin and path", () => {
  deepEqual(addressOf({ url: "http://h:1/a/b" }), { origin: "http://h:1", basePath: "/a/b" });
  deepEqual(addressOf({ url: "http://h:1" }), { origin: "http://h:1", basePath: "" });
  deepEqual(addressOf({ url: "http://[::1]:80" }), { origin: "http://[::1]", basePath: "" });
});

Deno.test("upstreamHeaders sends the key as a bearer token, unless a header says otherwise", () => {
  const service = parseServiceRequest({ name: "a", port: 1, upstream_key: "k" });
  deepEqual(upstreamHeaders(service), ["authorization", "Bearer k"]);
  deepEqual(
    upstreamHeaders({ ...service, upstreamHeaders: { "x-org": "o", authorization: "Basic b" } }),
    [
      "authorization",
      "Basic b",
      "x-org",
      "o",
    ],
  );
  deepEqual(upstreamHeaders({ upstreamKey: null, upstreamHeaders: {} }), []);
});
