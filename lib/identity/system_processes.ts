// What does Linux say of processes?
import { hostname } from "node:os";
import {
  isVisible,
  judgeProcess,
  parseProcessStat,
  type Processes,
  type ProcessMark,
} from "./process_mark.ts";

/**
 * The processes of this machine, from `/proc`. Deno opens that to no permission short of all, so `cat` reads it,
 * which needs permission to run `cat` and `readlink` (or any program); without it, and on other systems,
 * everything is `unknown`.
 */
export const systemProcesses: Processes = {
  self: () => markOf(Deno.pid),
  async stateOf(mark) {
    const self = await markOf(Deno.pid);
    if (!isVisible(mark, self)) return "unknown";
    const stat = await run("cat", `/proc/${mark.pid}/stat`);
    return stat === undefined ? "unknown" : judgeProcess(mark, self, parseProcessStat(stat));
  },
};

/**
 * What tells a process of this host that runs now from every later one with its pid. What cannot be seen of it is
 * unknown, as is a process that has ended.
 */
export async function markOf(pid: number): Promise<ProcessMark> {
  const [bootId, pidNamespace, stat] = await Promise.all([
    run("cat", "/proc/sys/kernel/random/boot_id"),
    run("readlink", `/proc/${pid}/ns/pid`),
    run("cat", `/proc/${pid}/stat`),
  ]);
  return {
    host: hostname(),
    bootId: bootId?.trim() ?? "",
    pidNamespace: pidNamespace?.trim() ?? "",
    pid,
    startTicks: parseProcessStat(stat ?? "")?.startTicks ?? 0,
  };
}

/**
 * Standard output of a program, empty when it found nothing.
 * @returns `undefined` when it could not be run, which says nothing about what it would have found.
 */
async function run(program: string, argument: string): Promise<string | undefined> {
  try {
    const command = new Deno.Command(program, { args: [argument], stdin: "null", stderr: "null" });
    return new TextDecoder().decode((await command.output()).stdout);
  } catch {
    return undefined;
  }
}
