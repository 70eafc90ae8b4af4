// How do our descriptions of commands become a parser of command lines?
import { Command, Option } from "commander";
import { OtelaError } from "../lib/base/errors.ts";
import { nearest } from "../lib/config/nearest.ts";
import type { CommandGroup, CommandSpec, OptionSpec } from "./command.ts";
import { commands } from "./commands.ts";
import { placeOptions } from "./config_options.ts";
import { type ExitCode, exitCodes } from "./exit_code.ts";
import type { CommandIo } from "./io.ts";
import { versionLine } from "./commands/version.ts";
import { columns } from "./table.ts";

/** Wider lines are hard to read. A guess. */
const helpColumnsMax = 100;

/**
 * A parser that runs the command it meets. It throws commander's errors; nobody's process ends.
 * @param done Told the exit code of the command that ran.
 */
export function buildProgram(io: CommandIo, done: (code: ExitCode) => void): Command {
  const program = new Command("otela")
    .description("One OpenAI-compatible endpoint from engines that run anywhere")
    .version(versionLine(), "-V, --version", "Print the version")
    .helpOption("-h, --help", "Explain a command")
    .helpCommand(false) // Its own one answers a mistyped name with the general help.
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => io.out(text.trimEnd()),
      writeErr: (text) => io.out(text.trimEnd()), // The help of a group that was called alone.
      outputError: () => {}, // Told by `run`.
      getOutHelpWidth: () => Math.min(io.columns, helpColumnsMax),
      getErrHelpWidth: () => Math.min(io.columns, helpColumnsMax),
    })
    .addHelpText("after", footer())
    .exitOverride();
  for (const option of placeOptions) program.addOption(toOption(option));
  for (const spec of commands) addCommand(program, spec, io, done);
  program.command("help").argument("[command...]").description("Explain a command")
    .action((names: string[]) => explain(program, names));
  return program;
}

function footer(): string {
  const rows = exitCodes.map(({ code, meaning }) => [`  ${code}`, meaning]);
  return ["", "Exit codes:", ...columns(rows)].join("\n");
}

/** Prints the help of the command with these names, one inside the other. */
function explain(program: Command, names: readonly string[]): void {
  let command = program;
  for (const name of names) {
    const known = command.commands.flatMap((child) => [child.name(), ...child.aliases()]);
    const found = command.commands.find((child) =>
      child.name() === name || child.aliases().includes(name)
    );
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
    command.helpCommand(false);
    for (const child of spec.commands) addCommand(command, child, io, done);
    return;
  }
  if (spec.alias) command.alias(spec.alias);
  if (spec.details) command.addHelpText("after", ["", ...spec.details].join("\n"));
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

function toOption({ flag, type, value = "", help, heading, isHidden = false }: OptionSpec): Option {
  const option = new Option(value === "" ? flag : `${flag} ${value}`, help).hideHelp(isHidden);
  // The headings of the configuration are those of `start`; elsewhere its flags are few or hidden.
  if (heading) option.helpGroup(`${heading}:`);
  if (type !== "list") return option;
  return option.argParser((text: string, before: string[] | undefined) => [...before ?? [], text]);
}
