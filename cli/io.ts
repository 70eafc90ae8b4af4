// What does a command have of the world around it?
import type { SignalSource } from "../lib/launcher/signals.ts";

/** Everything a command gets and gives, so that a test runs it without a process. */
export type CommandIo = {
  /** Without the program's name. */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Where relative paths start. */
  readonly cwd: string;
  /** Width of the terminal in characters; a sensible one where there is no terminal. */
  readonly columns: number;
  /** Writes one line to standard output: what was asked for. */
  readonly out: (line: string) => void;
  /** Writes one line to standard error: everything else. */
  readonly err: (line: string) => void;
  /** Draws a line on standard error over the one before; empty ends it. `undefined` when that is no terminal. */
  readonly progress?: (line: string) => void;
  readonly signals: SignalSource;
};
