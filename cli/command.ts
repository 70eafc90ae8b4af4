// How is a command described?
import type { CommandIo } from "./io.ts";
import type { ExitCode } from "./exit_code.ts";

/** One flag of a command. */
export type OptionSpec = {
  /** With dashes: `--port`. */
  readonly flag: string;
  /** `list` may be repeated. */
  readonly type: "switch" | "text" | "list";
  /** What stands for the value in the help: `<port>`; in brackets when it may be left out. */
  readonly value?: string;
  readonly help: string;
  /** Under which the help shows it; `Options` when absent. */
  readonly heading?: string;
  /** Values that a shell may offer. */
  readonly choices?: readonly string[];
  /** Known, so that old command lines work, but not shown. */
  readonly isHidden?: boolean;
};

/** One argument of a command; all are required. */
export type ArgumentSpec = {
  readonly name: string;
  readonly help: string;
  /** Everything that it may be, when that is known. */
  readonly choices?: readonly string[];
};

/** A command as it was typed. */
export type Call = {
  /** One per `ArgumentSpec`, in order. */
  readonly args: readonly string[];
  /** By flag, dashes included, only those typed. */
  readonly flags: ReadonlyMap<string, string | boolean | readonly string[]>;
};

/** A command that does something. */
export type CommandSpec = {
  readonly name: string;
  /** Another name, for those who know it. */
  readonly alias?: string;
  /** Begins with a verb, no full stop. */
  readonly summary: string;
  /** What its help says below the flags: sentences, and examples that begin with `otela`. */
  readonly details?: readonly string[];
  readonly args?: readonly ArgumentSpec[];
  readonly options?: readonly OptionSpec[];
  /** @throws {OtelaError} Turned into one line on standard error and an exit code. */
  readonly run: (call: Call, io: CommandIo) => Promise<ExitCode>;
};

/** A command that only gathers others under its name. */
export type CommandGroup = {
  readonly name: string;
  readonly summary: string;
  readonly commands: readonly CommandSpec[];
};

/** The flag that every command has: the answer as JSON, for programs. */
export const jsonOption: OptionSpec = {
  flag: "--json",
  type: "switch",
  help: "Print JSON, for programs",
};

/** The value of a flag that takes one; `undefined` when it was not typed. */
export function textOf(call: Call, flag: string): string | undefined {
  const value = call.flags.get(flag);
  return typeof value === "string" ? value : undefined;
}
