// How does a person end a node?
import { hourMs, type Ms, secondMs } from "../../lib/base/units.ts";
import { OtelaError } from "../../lib/base/errors.ts";
import type { ProcessMark } from "../../lib/identity/process_mark.ts";
import { markOf, systemProcesses } from "../../lib/identity/system_processes.ts";
import { type CommandSpec, jsonOption } from "../command.ts";
import { ExitCode } from "../exit_code.ts";
import { findNode } from "../find_node.ts";
import { jsonLine } from "../json.ts";
import { askOperator } from "../operator_client.ts";

/** How often we look whether it has ended; each look starts a few small programs. A guess. */
const lookMs: Ms = 200;
/** The longest `drain.deadline` there is, and the farewell after it. */
const goneAfterMsMax: Ms = hourMs + 10 * secondMs;

/** `otela stop`, which some know as `leave`. */
export const stopCommand: CommandSpec = {
  name: "stop",
  alias: "leave",
  summary: "Let the running node finish its requests, leave its mesh and end",
  details: [
    "It returns once the node has ended, which takes at most the node's own drain.deadline.",
    "Ctrl-C ends the waiting, not the stop.",
  ],
  options: [jsonOption],
  run: async (call, io) => {
    const { instance, socket, pid } = await findNode(call, io);
    const mark = await markOf(pid);
    await askOperator(socket, { method: "POST", path: "/stop" });
    const hasEnded = await waitForEnd(mark);
    const json = jsonLine({ instance, stopped: hasEnded });
    const word = hasEnded ? "stopped" : "stopping";
    io.out(call.flags.has("--json") ? json : `${word} instance ${instance}`);
    return ExitCode.ok;
  },
};

/** `otela drain`: the same by the name of what comes first. */
export const drainCommand: CommandSpec = {
  name: "drain",
  summary: "Take no new requests, finish those that run, then end",
  details: ["The same as otela stop: a node that takes no requests has nothing left to do."],
  options: stopCommand.options,
  run: stopCommand.run,
};

/** @returns Whether it has ended; `false` where processes cannot be seen. @throws {OtelaError} `timed_out`. */
async function waitForEnd(mark: ProcessMark): Promise<boolean> {
  const endMs = performance.now() + goneAfterMsMax;
  for (;;) {
    const state = await systemProcesses.stateOf(mark);
    if (state !== "running") return state === "gone";
    if (performance.now() > endMs) {
      throw new OtelaError("timed_out", `The node of process ${mark.pid} does not end`);
    }
    await new Promise((resolve) => setTimeout(resolve, lookMs));
  }
}
