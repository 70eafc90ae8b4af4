// How does a command line become an exit code?
import { Command, CommanderError, Option } from "commander";
import { messageOf, OtelaError } from "../lib/base/errors.ts";
import { nearest } from "../lib/config/nearest.ts";
import type { CommandGroup, CommandSpec, OptionSpec } from "./command.ts";
import { placeOptions } from "./config_options.ts";
import { ExitCode, exitCodeOf } from "./exit_code.ts";
import type { CommandIo } from "./io.ts";
import { peerIdCommand } from "./commands/peer_id.ts";
import { serviceCommands } from "./commands/service.ts";
import { startCommand } from "./commands/start.ts";
import { statusCommand } from "./commands/status.ts";
import { versionCommand, versionLine } from "./commands/version.ts";

/** Every command, in the order of the help. */
export const commands: readonly (CommandSpec | CommandGroup)[] = [
  startCommand,
  statusCommand,
  serviceCommands,
  peerIdCommand,
  versionCommand,
];

/**
 * Runs one command line. Never throws: what goes wrong is one line on standard error.
 * @returns The exit code of the process.
 */
export async function run(io: CommandIo): Promise<ExitCode> {
  let code: ExitCode = ExitCode.ok;
  const program = buildProgram(io, (done) => code = done);
  try {
    if (io.args.length === 0) program.outputHelp();
    else await program.parseAsync([...io.args], { from: "user" });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return endOfParsing(error, io);
    io.err(`otela: ${error instanceof OtelaError ? error.message : messageOf(error)}`);
    return exitCodeOf(error);
  }
}

function buildProgram(io: CommandIo, done: (code: ExitCode) => void): Command {
  const program = new Command("otela")
    .description("One OpenAI-compatible endpoint from engines that run anywhere")
    .version(versionLine(), "-V, --version", "Print the version")
    .helpOption("-h, --help", "Explain a command")
    .helpCommand(false) // Its own one answers a mistyped name with the general help.
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => io.out(text.trimEnd()),
      writeErr: (text) => io.out(text.trimEnd()), // The help of a group that was called alone.
      outputError: () => {}, // Told by `endOfParsing`.
    })
    .exitOverride();
  for (const option of placeOptions) program.addOption(toOption(option));
  for (const spec of commands) addCommand(program, spec, io, done);
  program.command("help").argument("[command...]").description("Explain a command")
    .action((names: string[]) => explain(program, names));
  return program;
}

/** Prints the help of the command with these names, one inside the other. */
function explain(program: Command, names: readonly string[]): void {
  let command = program;
  for (const name of names) {
    const known = command.commands.map((child) => child.name());
    const found = command.commands[known.indexOf(name)];
    if (!found) {
      const meant = nearest(name, known);
      const hint = meant ? ` (Did you mean ${meant}?)` : "";
      throw new OtelaError("usage_invalid", `unknown command '${name}'${hint}`);
    }
    command = found;
  }
  command.outputHelp();
}

function addCommand(
  parent: Command,
  spec: CommandSpec | CommandGroup,
  io: CommandIo,
  done: (code: ExitCode) => void,
): void {
  const command = parent.command(spec.name).description(spec.summary);
  if ("commands" in spec) {
    for (const child of spec.commands) addCommand(command, child, io, done);
    return;
  }
  const options = spec.options ?? [];
  for (const { name, help } of spec.args ?? []) command.argument(`<${name}>`, help);
  for (const option of options) command.addOption(toOption(option));
  command.action(async () => {
    const typed = command.optsWithGlobals<Record<string, string | boolean | string[]>>();
    const flags = new Map<string, string | boolean | string[]>();
    for (const option of [...placeOptions, ...options]) {
      const value = typed[toOption(option).attributeName()];
      if (value !== undefined) flags.set(option.flag, value);
    }
    done(await spec.run({ args: command.args, flags }, io));
  });
}

function toOption({ flag, type, value = "", help, isHidden }: OptionSpec): Option {
  const option = new Option(value === "" ? flag : `${flag} ${value}`, help).hideHelp(
    isHidden ?? false,
  );
  if (type !== "list") return option;
  return option.argParser((text: string, before: string[] | undefined) => [...before ?? [], text]);
}

/** Help and version end the parsing by an exception too. */
function endOfParsing(error: CommanderError, io: CommandIo): ExitCode {
  if (error.exitCode === 0 || error.code === "commander.help") return ExitCode.ok;
  const told = error.message.replace(/^error: /, "").replaceAll(/\s*\n/g, " ").replace(/\.$/, "");
  io.err(`otela: ${told}`);
  return ExitCode.usage;
}
