// How does a command line become an exit code?
import { CommanderError } from "commander";
import { messageOf, OtelaError } from "../lib/base/errors.ts";
import { keyNamed } from "../lib/config/schema.ts";
import { laterCommands } from "./commands.ts";
import { ExitCode, exitCodeOf } from "./exit_code.ts";
import type { CommandIo } from "./io.ts";
import { buildProgram } from "./program.ts";

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

/** Help and version end the parsing by an exception too. */
function endOfParsing(error: CommanderError, io: CommandIo): ExitCode {
  if (error.exitCode === 0 || error.code === "commander.help") return ExitCode.ok;
  const told = error.message.replace(/^error: /, "").replaceAll(/\s*\n/g, " ").replace(/\.$/, "")
    .replace(/('--?[^'=]+)=.*'/s, "$1'"); // What was given to an unknown flag may be a secret.
  io.err(`otela: ${told}${told.endsWith("?)") ? "" : hintFor(error.code, told)}`);
  return ExitCode.usage;
}

/** What helps whoever typed something unknown that is like nothing we know. */
function hintFor(code: string, told: string): string {
  const name = /'([^']*)'/.exec(told)?.[1] ?? "";
  if (code === "commander.unknownCommand") {
    const about = laterCommands.get(name);
    return about ? `: this version does not deal with ${about}` : `: "otela help" lists them`;
  }
  if (code !== "commander.unknownOption") return "";
  const row = keyNamed(name.replace(/^--/, ""));
  if (row && row.flag === null) return `: set it in the file, or as ${row.env}`;
  return row ? `: it is a flag of "otela start"` : "";
}
