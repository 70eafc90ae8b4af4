// What is this node told, by whom, and is it right?
import { OtelaError } from "../../lib/base/errors.ts";
import { describeValues, type ValueDescription } from "../../lib/config/describe.ts";
import { ConfigError } from "../../lib/config/problem.ts";
import { type CommandGroup, type CommandSpec, jsonOption } from "../command.ts";
import { hiddenNodeOptions } from "../config_options.ts";
import { ExitCode } from "../exit_code.ts";
import { jsonLine } from "../json.ts";
import { configFileInUse, configFilePlaces, readConfig } from "../node_config.ts";
import { readStartConfig } from "../start_config.ts";
import { columns } from "../table.ts";

/** Whoever wants to know what a command line would do may ask with the same flags. */
const options = [jsonOption, ...hiddenNodeOptions];
const flagsToo = 'The flags of "otela start" are taken too, and count as they do there.';

/** The longest name of a key; few values are longer. */
const columnWidthMax = 33;

const showCommand: CommandSpec = {
  name: "show",
  summary: "Print each value and where it came from; secrets only as (set)",
  details: [flagsToo, "", "Examples:", "  otela config show --role head"],
  options,
  run: (call, io) => {
    const { origins, warnings } = readConfig(call, io);
    for (const warning of warnings) io.err(`otela: ${warning}`);
    const values = describeValues(origins);
    if (call.flags.has("--json")) {
      // Not `jsonLine`: names inside a value are the user's.
      io.out(JSON.stringify(values.map(plainRow)));
    } else columns(values.map(row), columnWidthMax).forEach(io.out);
    return Promise.resolve(ExitCode.ok);
  },
};

function row({ key, value, source, where }: ValueDescription): string[] {
  return [key, value === "" ? "-" : value, source === "default" ? "default" : where];
}

function plainRow({ key, plain, source, where }: ValueDescription) {
  return { key, value: plain, source, where: source === "default" ? null : where };
}

const checkCommand: CommandSpec = {
  name: "check",
  summary: "Say whether a node could start with this configuration; exit code 2 if not",
  details: [`${flagsToo} Nothing is written or started.`],
  options,
  run: (call, io) => {
    const isJson = call.flags.has("--json");
    try {
      const { file, warnings } = readStartConfig(call, io);
      if (isJson) io.out(jsonLine({ ok: true, file, problems: [], warnings }));
      else {
        for (const warning of warnings) io.err(`otela: ${warning}`);
        io.out(`ok: ${file ?? "no file, so defaults, environment and flags alone"}`);
      }
      return Promise.resolve(ExitCode.ok);
    } catch (error) {
      if (!isJson || !(error instanceof OtelaError)) throw error;
      const whole = [{ where: "", key: "", message: error.message }];
      const problems = error instanceof ConfigError ? error.problems : whole;
      io.out(jsonLine({ ok: false, problems }));
      return Promise.resolve(ExitCode.usage);
    }
  },
};

const pathCommand: CommandSpec = {
  name: "path",
  summary: "Print which file is read, or where one would be",
  options: [jsonOption],
  run: (call, io) => {
    const searched = configFilePlaces(call, io);
    const file = configFileInUse(searched) ?? null;
    if (call.flags.has("--json")) io.out(jsonLine({ file, searched }));
    else {
      if (file === null) io.err('otela: there is no such file yet: "otela init" writes it');
      io.out(file ?? searched[0]);
    }
    return Promise.resolve(ExitCode.ok);
  },
};

/** `otela config …`: only looks, never writes. */
export const configCommands: CommandGroup = {
  name: "config",
  summary: "Look at the configuration",
  commands: [showCommand, checkCommand, pathCommand],
};
