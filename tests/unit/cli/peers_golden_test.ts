import { describePeers } from "../../../cli/commands/peers.ts";
import { jsonLine } from "../../../cli/json.ts";
import type { PeerRow } from "../../../lib/gateway/operator_door.ts";
import { peerNumbered } from "../../../lib/sim/peer_names.ts";
import { expectGolden } from "../../support/golden.ts";

const [self, head, worker] = [1, 2, 3].map(peerNumbered);
const row: PeerRow = {
  id: self,
  role: "worker",
  status: "alive",
  reason: "connected",
  forMs: 93_784_000,
  seenBy: [self],
  connectedness: "not_connected",
  services: ["llm", "tts"],
  isSelf: true,
};
const peers: PeerRow[] = [
  row,
  {
    ...row,
    id: head,
    role: "head",
    forMs: 7_000,
    connectedness: "connected",
    services: [],
    isSelf: false,
  },
  {
    ...row,
    id: worker,
    status: "left",
    reason: "failed",
    forMs: 720_000,
    seenBy: [self, head],
    isSelf: false,
  },
];

Deno.test("peers lists who is here, who is not, and who says so, and is JSON for programs", async () => {
  const text = [
    "$ otela peers",
    ...describePeers(peers),
    "",
    "$ otela peers --json",
    jsonLine(peers),
  ];
  await expectGolden("peers.txt", `${text.join("\n")}\n`);
});
