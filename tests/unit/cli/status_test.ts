import { deepEqual } from "node:assert/strict";
import { describeStatus } from "../../../cli/commands/status.ts";
import type { NodeStatus } from "../../../lib/gateway/operator_door.ts";

const status: NodeStatus = {
  peerId: "12D3KooWKn4BZKsvdid2wBKQrfSAixf3oYCcArQiAsGWCTfoADvH",
  role: "worker",
  version: "0.1.0",
  http: ["http://127.0.0.1:8092"],
  multiaddrs: ["/ip4/10.0.0.7/tcp/43905/p2p/12D", "/ip6/fd00::7/tcp/43905/p2p/12D"],
  uptimeMs: 93_784_000,
  connections: 1,
  services: [
    {
      name: "llm",
      url: "http://127.0.0.1:8000",
      state: "ready",
      reason: "",
      identityGroups: ["model=a", "model=b"],
    },
    {
      name: "tts",
      url: "http://127.0.0.1:9",
      state: "failing",
      reason: "refuses",
      identityGroups: [],
    },
  ],
  registry: { claims: 12, claimBytes: 9_000 },
  warnings: ["the mesh is open"],
};

Deno.test("describeStatus puts facts, services and warnings below each other", () => {
  deepEqual(describeStatus(status), [
    "peer     12D3KooWKn4BZKsvdid2wBKQrfSAixf3oYCcArQiAsGWCTfoADvH",
    "role     worker",
    "version  0.1.0",
    "up for   1d 2h",
    "clients  http://127.0.0.1:8092",
    "peers    /ip4/10.0.0.7/tcp/43905/p2p/12D",
    "         /ip6/fd00::7/tcp/43905/p2p/12D",
    "mesh     1 connection, 12 claims",
    "",
    "llm  ready    http://127.0.0.1:8000  model=a model=b",
    "tts  failing  http://127.0.0.1:9     refuses",
    "",
    "! the mesh is open",
  ]);
});

Deno.test("describeStatus counts the first seconds of a node", () => {
  const [, , , upFor] = describeStatus({ ...status, uptimeMs: 400 });
  deepEqual(upFor, "up for   0s");
});
