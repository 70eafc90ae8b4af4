// With which code does the program end?
import type { ErrorCode } from "../lib/base/errors.ts";
import { OtelaError } from "../lib/base/errors.ts";

/** Every exit code there is; 128 + n after a second signal n. Scripts depend on them: never renumber. */
export const ExitCode = {
  ok: 0,
  failure: 1,
  usage: 2,
  locked: 3,
  portBusy: 4,
  noNode: 5,
} as const;

/** One of {@link ExitCode}, or 128 + the number of a signal. */
export type ExitCode = number;

/** What each code tells a script: for help and reference. */
export const exitCodes: readonly { readonly code: string; readonly meaning: string }[] = [
  { code: String(ExitCode.ok), meaning: "It did what was asked, or a node stopped in good order" },
  { code: String(ExitCode.failure), meaning: "Something went wrong that has no code of its own" },
  {
    code: String(ExitCode.usage),
    meaning: "The command line or the configuration is wrong; nothing was started",
  },
  {
    code: String(ExitCode.locked),
    meaning: "Another process runs this instance, or another node has the same key",
  },
  { code: String(ExitCode.portBusy), meaning: "A port that was asked for is taken" },
  { code: String(ExitCode.noNode), meaning: "No node runs here for the command to talk to" },
  { code: "128 + n", meaning: "A second signal, number n, ended a node that was stopping" },
];

const codeOf: Partial<Record<ErrorCode, ExitCode>> = {
  config_invalid: ExitCode.usage,
  usage_invalid: ExitCode.usage,
  instance_locked: ExitCode.locked,
  identity_duplicate: ExitCode.locked,
  port_busy: ExitCode.portBusy,
  node_unreachable: ExitCode.noNode,
};

/** The code for anything thrown. */
export function exitCodeOf(error: unknown): ExitCode {
  return error instanceof OtelaError ? codeOf[error.code] ?? ExitCode.failure : ExitCode.failure;
}
