// How does a node start, from the command line?
import type { EventMessage, ReadyMessage } from "../../lib/config/thread_messages.ts";
import { launchNode } from "../../lib/launcher/launch.ts";
import { supervise } from "../../lib/launcher/supervise.ts";
import { type CommandSpec, jsonOption } from "../command.ts";
import { nodeOptions } from "../config_options.ts";
import { jsonLine } from "../json.ts";
import { readStartConfig } from "../start_config.ts";
import { columns } from "../table.ts";
import { versionFacts } from "./version.ts";

/** `otela start`: in the foreground; its flags are those of the configuration. */
export const startCommand: CommandSpec = {
  name: "start",
  summary: "Run a node until it is told to stop",
  details: [
    "Ctrl-C, TERM, HUP, USR1 and USR2 let running requests finish; a second one ends it at once.",
    "With --json, standard output has one object a line. The first says that it is ready, with",
    "peer_id, http and multiaddrs; then come events: service.starting, service.ready,",
    "service.failing and service.withdrawn with service and reason, peer.changed with peer, status",
    "(alive, suspect or left), the status before, and reason.",
    "",
    "Examples:",
    "  otela start --role head",
    "  otela start --service.name llm --service.port 8000 --bootstrap file:/shared/head.addr",
  ],
  options: [jsonOption, ...nodeOptions],
  run: async (call, io) => {
    const isJson = call.flags.has("--json");
    const { config, places, warnings } = readStartConfig(call, io);
    const told = Promise.withResolvers<void>(); // That it is ready is told before anything else.
    for (const warning of warnings) io.err(`otela: ${warning}`);
    await using node = await launchNode({
      config,
      places,
      version: versionFacts,
      env: io.env,
      warn: (warning) => io.err(`otela: ${warning}`),
      onEvent: (message) => isJson && told.promise.then(() => io.out(eventLine(message))),
    });
    node.thread.ready.then(
      (ready) => {
        if (isJson) io.out(readyLine(ready));
        else describeReady(ready).forEach(io.out);
        told.resolve();
      },
      () => {}, // The failure is told once, at the end.
    );
    return await supervise(node.thread, io.signals, config.limits.drainMs);
  },
};

/** The first line of `start --json`. */
function readyLine({ peerId, http, multiaddrs }: ReadyMessage): string {
  return jsonLine({ event: "ready", peerId, http, multiaddrs });
}

function eventLine({ event, fields }: EventMessage): string {
  return jsonLine({ event, ...fields });
}

function describeReady({ peerId, http, multiaddrs }: ReadyMessage): string[] {
  return columns([
    ["ready", peerId],
    ["clients", http],
    ...multiaddrs.map((address, index) => [index === 0 ? "address" : "", address]),
  ]);
}
