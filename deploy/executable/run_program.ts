// Did a program of the build do its work, and if not, what does it say is the reason?
import { messageOf } from "../../lib/base/errors.ts";
import type { Ms } from "../../lib/base/units.ts";
import { Program } from "../../tests/support/program.ts";

/** One run of another program, which inherits our environment. */
export type ProgramRun = {
  readonly command: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Then it is ended, which counts as a failure. */
  readonly limitMs: Ms;
};

/**
 * Runs it to its end.
 * @param what What we cannot do when it fails; the message begins with it and ends with the program's reason.
 * @returns Its standard output.
 * @throws {Error} When it fails, is not there, or takes too long.
 */
export async function runProgram(what: string, run: ProgramRun): Promise<string> {
  const signal = AbortSignal.timeout(run.limitMs);
  try {
    await using program = new Program({
      command: run.command[0],
      args: run.command.slice(1),
      env: { ...Deno.env.toObject(), NO_COLOR: "1", ...run.env },
      cwd: run.cwd,
      signal,
    });
    const { success } = await program.ended;
    if (success) return program.stdout.text;
    const reason = `it was not done after ${run.limitMs / 1_000} s`;
    throw new Error(signal.aborted ? reason : reasonOf(program.stderr.text));
  } catch (error) {
    throw new Error(`${what}: ${messageOf(error)}`, { cause: error });
  }
}

/**
 * The one line of a complaint that tells why. Deno lists causes, the telling one with all below it in its first
 * line that speaks of an error; npm repeats the reason behind "reason:".
 * @returns The last line when none is more telling; empty for silence.
 */
export function reasonOf(complaint: string): string {
  const [told] = complaint.split("\nStack backtrace:");
  const lines = told.split("\n").map((line) => line.trim()).filter((line) => line !== "");
  const cause = lines.find((line) => /^\d+: .*error/.test(line))?.replace(/^\d+: /, "");
  const npm = lines.find((line) => line.includes("reason: "))?.replace(/^.*reason: /, "");
  return cause ?? npm ?? lines.findLast((line) => /\berror\b/i.test(line)) ?? lines.at(-1) ?? "";
}
