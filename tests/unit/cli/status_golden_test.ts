import { deepEqual } from "node:assert/strict";
import { describeStatus, type FoundStatus } from "../../../cli/commands/status.ts";
import { jsonLine } from "../../../cli/json.ts";
import { expectGolden } from "../../support/golden.ts";

const status: FoundStatus = {
  instance: "default",
  pid: 4711,
  peerId: "12D3KooWKn4BZKsvdid2wBKQrfSAixf3oYCcArQiAsGWCTfoADvH",
  role: "worker",
  version: "0.1.0",
  http: ["http://127.0.0.1:8092"],
  multiaddrs: ["/ip4/10.0.0.7/tcp/43905/p2p/12D", "/ip6/fd00::7/tcp/43905/p2p/12D"],
  uptimeMs: 93_784_000,
  network: "opentela",
  connections: 1,
  peers: { alive: 11, suspect: 0, left: 1 },
  running: { out: 0, in: 2, engines: 2 },
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
  warnings: [`Service "tts": refuses`],
};

Deno.test("status puts facts, services and warnings below each other, and is JSON for programs", async () => {
  const text = [
    "$ otela status",
    ...describeStatus(status),
    "",
    "$ otela status --json",
    jsonLine(status),
  ];
  await expectGolden("status.txt", text.join("\n") + "\n");
});

Deno.test("describeStatus counts the first seconds of a node", () => {
  deepEqual(describeStatus({ ...status, uptimeMs: 400 })[3], "up for   0s");
});
