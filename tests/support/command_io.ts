// How does a test run a command line without a process?
import { run } from "../../cli/run.ts";
import type { ExitCode } from "../../cli/exit_code.ts";
import type { SignalSource } from "../../lib/launcher/signals.ts";

/** What a command line gave. */
export type CommandResult = {
  readonly code: ExitCode;
  /** Lines of standard output. */
  readonly out: readonly string[];
  /** Lines of standard error. */
  readonly err: readonly string[];
};

/** Runs a command line as a user whose home is `home`, in an environment that holds nothing else. */
export async function runCommand(
  args: readonly string[],
  { home = "/nonexistent", env = {}, signals = () => () => {} }: {
    readonly home?: string;
    readonly env?: Readonly<Record<string, string>>;
    readonly signals?: SignalSource;
  } = {},
): Promise<CommandResult> {
  const [out, err]: string[][] = [[], []];
  const code = await run({
    args,
    env: { HOME: home, ...env },
    cwd: home,
    columns: 100,
    out: (line) => out.push(...line.split("\n")),
    err: (line) => err.push(...line.split("\n")),
    signals,
  });
  return { code, out, err };
}
