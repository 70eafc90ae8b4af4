// What does Linux say of processes?
import { hostname } from "node:os";
import {
  isVisible,
  judgeProcess,
  parseProcessStat,
  type Processes,
  type ProcessMark,
  type ProcessStat,
} from "./process_mark.ts";

/**
 * The processes of this machine, from `/proc`. Deno opens that to no permission short of all, so `cat` reads it,
 * which needs permission to run `cat` and `readlink` (or any program); without it, and on other systems,
 * everything is `unknown`.
 */
export const systemProcesses: Processes = {
  self: readSelf,
  async stateOf(mark) {
    const self = await readSelf();
    if (!isVisible(mark, self)) return "unknown";
    return judgeProcess(mark, self, await readStat(mark.pid));
  },
};

async function readSelf(): Promise<ProcessMark> {
  const [bootId, pidNamespace, stat] = await Promise.all([
    run("cat", "/proc/sys/kernel/random/boot_id"),
    run("readlink", `/proc/${Deno.pid}/ns/pid`),
    readStat(Deno.pid),
  ]);
  return {
    host: hostname(),
    bootId: bootId.trim(),
    pidNamespace: pidNamespace.trim(),
    pid: Deno.pid,
    startTicks: stat?.startTicks ?? 0,
  };
}

async function readStat(pid: number): Promise<ProcessStat | undefined> {
  return parseProcessStat(await run("cat", `/proc/${pid}/stat`));
}

/** Standard output of a program; empty when it fails, is missing, or may not be run. */
async function run(program: string, argument: string): Promise<string> {
  try {
    const command = new Deno.Command(program, { args: [argument], stdin: "null", stderr: "null" });
    return new TextDecoder().decode((await command.output()).stdout);
  } catch {
    return "";
  }
}
