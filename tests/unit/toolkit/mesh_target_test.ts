// Which addresses of the mesh can be called, and what do they mean?
import { deepEqual, throws } from "node:assert/strict";
import { parseMeshTarget } from "../../../lib/toolkit/mesh_target.ts";

const peer = "12D3KooWGRUPcSGwbkBbHGfbuoCgbZ1L8fLBmVBPGkSmtXPs9fgX";

Deno.test("parseMeshTarget reads services and peers, and leaves paths as they are", () => {
  const targets: [string, unknown[]][] = [
    ["service:llm", ["service", "llm", "/", "service:llm"]],
    ["service:llm/", ["service", "llm", "/", "service:llm"]],
    ["service:llm?a=1", ["service", "llm", "/?a=1", "service:llm"]],
    ["service:llm/v1/models", ["service", "llm", "/v1/models", "service:llm"]],
    ["service:a.b/%2e%2F//x?y=%20", ["service", "a.b", "/%2e%2F//x?y=%20", "service:a.b"]],
    [`peer:${peer}/llm`, ["peer", "llm", "/", `peer:${peer}/llm`]],
    [`peer:${peer}/llm/v1/x?y`, ["peer", "llm", "/v1/x?y", `peer:${peer}/llm`]],
  ];
  for (const [address, expected] of targets) {
    const { kind, service, path, publicPrefix } = parseMeshTarget("GET", address);
    deepEqual([kind, service, path, publicPrefix], expected, address);
  }
});

Deno.test("parseMeshTarget refuses what the client door would refuse, and other addresses", () => {
  const refusals: [string, string][] = [
    ["", "bad_request"],
    ["llm/v1", "bad_request"],
    ["https://example.org/", "bad_request"],
    ["service:", "bad_request"],
    ["service:a b/", "bad_request"],
    ["service:a/b c", "bad_request"],
    ["service:a/b#c", "bad_request"],
    ["service:a/../b", "bad_request"],
    ["service:a/%2e%2e/../../b", "bad_request"],
    ["peer:", "bad_request"],
    [`peer:${peer}`, "bad_request"],
    [`peer:${peer}/`, "bad_request"],
    ["peer:somebody/llm/", "bad_peer_id"],
  ];
  for (const [address, code] of refusals) {
    throws(() => parseMeshTarget("GET", address), { code }, address);
  }
});
