// Whom does the running node know, and is anybody gone?
import type { PeerRow } from "../../lib/gateway/operator_door.ts";
import { type CommandSpec, jsonOption } from "../command.ts";
import { ExitCode } from "../exit_code.ts";
import { findNode } from "../find_node.ts";
import { jsonLine } from "../json.ts";
import { askOperator } from "../operator_client.ts";
import { columns } from "../table.ts";
import { upFor } from "../up_for.ts";

/** So much of a PeerId tells peers apart: its end, as in logs. */
const shortLength = 8;

export const peersCommand: CommandSpec = {
  name: "peers",
  summary: "List the peers of the running node, and whether each is alive",
  details: [
    "A peer that left stays in the list until its lease ends.",
    "Seen by: who says so; nobody is named where the whole mesh agrees.",
  ],
  options: [jsonOption],
  run: async (call, io) => {
    const { socket } = await findNode(call, io);
    const answer = await askOperator(socket, { method: "GET", path: "/peers" });
    const { peers } = answer as { peers: readonly PeerRow[] };
    if (call.flags.has("--json")) io.out(jsonLine(peers));
    else for (const line of describePeers(peers)) io.out(line);
    return ExitCode.ok;
  },
};

/** Peers as a person reads them, one text per line. */
export function describePeers(peers: readonly PeerRow[]): string[] {
  const self = peers.find(({ isSelf }) => isSelf)?.id;
  const nameOf = (peer: string) => peer === self ? "this node" : `…${peer.slice(-shortLength)}`;
  const cells = peers.map((peer) => [
    peer.id,
    peer.role,
    peer.status,
    peer.isSelf ? "this node" : peer.reason,
    upFor(peer.forMs),
    peer.isSelf ? "" : peer.seenBy.map(nameOf).join(", "),
    peer.services.join(", "),
  ]);
  return columns([["peer", "role", "status", "why", "for", "seen by", "services"], ...cells]);
}
