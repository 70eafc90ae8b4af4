// What is the node of this user doing?
import type { NodeStatus } from "../../lib/gateway/operator_door.ts";
import { type CommandSpec, jsonOption } from "../command.ts";
import { ExitCode } from "../exit_code.ts";
import { findNode } from "../find_node.ts";
import { jsonLine } from "../json.ts";
import { askOperator } from "../operator_client.ts";
import { columns } from "../table.ts";
import { upFor } from "../up_for.ts";

/** `otela status` */
export const statusCommand: CommandSpec = {
  name: "status",
  summary: "Tell what the running node is doing",
  options: [jsonOption],
  run: async (call, io) => {
    const { instance, pid, socket } = await findNode(call, io);
    const status = await askOperator(socket, { method: "GET", path: "/status" }) as NodeStatus;
    if (call.flags.has("--json")) io.out(jsonLine({ instance, pid, ...status }));
    else for (const line of describeStatus({ instance, pid, ...status })) io.out(line);
    return ExitCode.ok;
  },
};

/** What a node says of itself, and where it was found. */
export type FoundStatus = NodeStatus & { readonly instance: string; readonly pid: number };

/** A status as a person reads it, one text per line. */
export function describeStatus(status: FoundStatus): string[] {
  const { registry, peers, running, services } = status;
  const facts = [
    ["peer", status.peerId],
    ["node", `${status.role}, instance ${status.instance}, process ${status.pid}`],
    ["version", status.version],
    ["up for", upFor(status.uptimeMs)],
    ...status.http.map((url, index) => [index === 0 ? "clients" : "", url]),
    ...status.multiaddrs.map((address, index) => [index === 0 ? "address" : "", address]),
    ["mesh", `${status.network}, ${count(status.connections, "connection")}`],
    ["peers", `${peers.alive} alive, ${peers.suspect} suspect, ${peers.left} left`],
    ["claims", `${registry.claims} in ${Math.ceil(registry.claimBytes / 1_024)} KiB`],
    ["running", `${running.out} to peers, ${running.in} from peers, ${running.engines} on engines`],
  ];
  const lines = columns(facts);
  if (services.length > 0) lines.push("", ...columns(services.map(serviceCells)));
  for (const warning of status.warnings) lines.push("", `! ${warning}`);
  return lines;
}

/** A service as one row: name, state, URL, and what it offers or what is wrong with it. */
export function serviceCells(service: NodeStatus["services"][number]): string[] {
  const { name, state, url, reason, identityGroups } = service;
  return [name, state, url, reason || identityGroups.join(" ")];
}

function count(amount: number, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? "" : "s"}`;
}
