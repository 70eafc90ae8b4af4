// Which services does the running node offer, and how does one change that?
import type { ServiceStatus } from "../../lib/gateway/operator_door.ts";
import { type CommandGroup, type CommandSpec, jsonOption, textOf } from "../command.ts";
import { ExitCode } from "../exit_code.ts";
import { findNode } from "../find_node.ts";
import { jsonLine } from "../json.ts";
import { askOperator } from "../operator_client.ts";
import { columns } from "../table.ts";
import { serviceCells } from "./status.ts";

const nameArgument = { name: "name", help: "Name by which clients call the service" };

const listCommand: CommandSpec = {
  name: "list",
  summary: "List the services of the running node",
  options: [jsonOption],
  run: async (call, io) => {
    const { socket } = await findNode(call, io);
    const answer = await askOperator(socket, { method: "GET", path: "/services" });
    const { services } = answer as { services: ServiceStatus[] };
    if (call.flags.has("--json")) io.out(jsonLine(services));
    else if (services.length === 0) io.out("no services");
    else for (const line of columns(services.map(serviceCells))) io.out(line);
    return ExitCode.ok;
  },
};

const addCommand: CommandSpec = {
  name: "add",
  summary: "Offer a service from now until the node stops",
  details: ["Examples:", "  otela service add tts http://127.0.0.1:9000 --health-path /healthz"],
  args: [nameArgument, { name: "url", help: "URL of its engine" }],
  options: [
    jsonOption,
    {
      flag: "--health-path",
      type: "text",
      value: "<path>",
      help: "Answers 2xx when the engine can serve",
    },
    {
      flag: "--identity-group",
      type: "list",
      value: "<group>",
      help: "Group besides the models found",
    },
  ],
  run: async (call, io) => {
    const [name, url] = call.args;
    const body = {
      name,
      url, // No Unix socket: the node may only call those of its configuration, since it was started so.
      health_path: textOf(call, "--health-path"),
      identity_group: call.flags.get("--identity-group"),
    };
    const { socket } = await findNode(call, io);
    const added = await askOperator(socket, { method: "POST", path: "/services", body });
    if (call.flags.has("--json")) io.out(jsonLine(added));
    else io.out(columns([serviceCells(added as ServiceStatus)])[0]);
    return ExitCode.ok;
  },
};

const removeCommand: CommandSpec = {
  name: "remove",
  summary: "Offer a service no longer",
  args: [nameArgument],
  options: [jsonOption],
  run: async (call, io) => {
    const [name] = call.args;
    const { socket } = await findNode(call, io);
    await askOperator(socket, { method: "DELETE", path: `/services/${encodeURIComponent(name)}` });
    io.out(call.flags.has("--json") ? jsonLine({ removed: name }) : `removed ${name}`);
    return ExitCode.ok;
  },
};

/** `otela service …`: what changes lasts until the node stops. */
export const serviceCommands: CommandGroup = {
  name: "service",
  summary: "Look at and change what the running node offers",
  commands: [listCommand, addCommand, removeCommand],
};
