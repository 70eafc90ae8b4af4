// With which code does the program end?
import type { ErrorCode } from "../lib/base/errors.ts";
import { OtelaError } from "../lib/base/errors.ts";

/** Every exit code there is; 128 + n after a second signal n. Scripts depend on them: never renumber. */
export const ExitCode = {
  ok: 0,
  /** Something went wrong that has no code of its own. */
  failure: 1,
  /** The command line or the configuration is wrong; nothing was started. */
  usage: 2,
  /** Another process runs this instance or this identity. */
  locked: 3,
  /** A port that was asked for is taken. */
  portBusy: 4,
  /** No node runs here for the command to talk to. */
  noNode: 5,
} as const;

/** One of {@link ExitCode}, or 128 + the number of a signal. */
export type ExitCode = number;

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
