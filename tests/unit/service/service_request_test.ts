import { deepEqual, equal, throws } from "node:assert/strict";
import fc from "fast-check";
import { parseServiceRequest } from "../../../lib/service/service_request.ts";

Deno.test("parseServiceRequest reads a name and a port, the rest by default", () => {
  const service = parseServiceRequest({ name: "llm", port: 8000 });
  deepEqual([service.url, service.socketPath, service.healthPath, service.healthFailures], [
    "http://127.0.0.1:8000",
    null,
    "/health",
    3,
  ]);
  // Models that come and go are seen within 5 s: one list missed, the next one read, and its time.
  equal(2 * service.modelRefreshMs < 5_000, true);
});

Deno.test("parseServiceRequest takes engines on other hosts, below a path, and on Unix sockets", () => {
  equal(
    parseServiceRequest({ name: "a", url: "http://10.0.0.5:8000/base/" }).url,
    "http://10.0.0.5:8000/base",
  );
  const { socketPath, identityGroups } = parseServiceRequest({
    name: "a",
    socket: "/run/engine.sock",
    identity_group: ["all", "tier=gold"],
  });
  deepEqual([socketPath, identityGroups], ["/run/engine.sock", ["all", "tier=gold"]]);
});

Deno.test("parseServiceRequest refuses what the configuration would refuse, and says why", () => {
  const wrong: [Record<string, unknown>, RegExp][] = [
    [{ name: "a b", port: 1 }, /service\.name/],
    [{ name: "../x", port: 1 }, /service\.name/],
    [{ port: 1 }, /name/],
    [{ name: "a" }, /exactly one of/],
    [{ name: "a", port: 1, url: "http://x" }, /exactly one of/],
    [{ name: "a", port: 0 }, /from 1 to 65535/],
    [{ name: "a", port: 65_536 }, /from 1 to 65535/],
    [{ name: "a", port: 1.5 }, /service\.port/],
    [{ name: "a", url: "ftp://x" }, /http or https/],
    [{ name: "a", url: "file:///etc/passwd" }, /http or https/],
    [{ name: "a", url: "http://user:pass@x" }, /without user/],
    [{ name: "a", socket: "relative" }, /absolute/],
    [{ name: "a", port: 1, allow: ["someone"] }, /PeerIds/],
    [{ name: "a", port: 1, prot: 2 }, /service\.prot/],
    [{ name: "a", port: 1, upstream_headers: { "x\r\ny": "z" } }, /header/],
    [{ name: "a", port: 1, upstream_key_file: "/etc/passwd" }, /upstream_key/],
  ];
  for (const [value, message] of wrong) {
    throws(() => parseServiceRequest(value), { code: "bad_request", message });
  }
});

Deno.test("parseServiceRequest gives a service or refuses, for any JSON", () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => {
    for (const request of [value, { name: "a", port: value }, { name: value, port: 1 }]) {
      try {
        equal(typeof parseServiceRequest(request).name, "string");
      } catch (error) {
        equal((error as { code?: string }).code, "bad_request");
      }
    }
  }));
});
