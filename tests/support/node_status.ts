// What does a running node tell its operator?
import type { NodeStatus } from "../../lib/gateway/operator_door.ts";
import { secondMs } from "../../lib/base/units.ts";
import { runOtela } from "./node_process.ts";
import { within } from "./within.ts";

/**
 * Runs an operator's command and waits for its end.
 * @param home Of the node.
 * @returns What it printed, read as JSON where it printed JSON.
 * @throws {Error} With its own last line when it fails.
 */
export async function askOperatorOf(home: string, ...args: string[]): Promise<unknown> {
  await using program = runOtela([...args, "--json"], { home });
  const { code } = await within(20 * secondMs, program.ended);
  if (code !== 0) throw new Error(`otela ${args[0]}: ${code}, ${program.stderr.lastLine}`);
  return JSON.parse(program.stdout.text);
}

/** `otela status` of the node that lives in `home`. */
export async function statusOf(home: string): Promise<NodeStatus> {
  return await askOperatorOf(home, "status") as NodeStatus;
}
