// What does the reference of the commands say?
import { type CommandSpec, jsonOption, type OptionSpec } from "../cli/command.ts";
import { type NamedCommand, runnableCommands } from "../cli/commands.ts";
import { placeOptions } from "../cli/config_options.ts";
import { exitCodes } from "../cli/exit_code.ts";
import { code, page, paragraph, table } from "./docs_markdown.ts";

/** `docs/COMMANDS.md`. */
export function commandsPage(): string {
  return page([
    "# Commands",
    paragraph(
      "Every command, from the descriptions that the program itself reads (`cli/commands/`): `deno task docs` writes this page. On the command line `otela help` and `otela help start` say the same.",
    ),
    paragraph(
      "What was asked for goes to standard output, everything else, logs included, to standard error. Every command takes `--json` and then prints JSON, for programs; names in it are written as in the configuration, `peer_id`. What goes wrong is a line on standard error either way, and an exit [code](#exit-codes).",
    ),
    ...runnableCommands().flatMap(section),
    "## Which node is meant",
    paragraph(
      "One user may have several nodes on a machine. These flags stand before or after any command and say whose files are meant; without them it is the instance `default`, inside a Slurm job that of the task.",
    ),
    optionTable(placeOptions),
    "## Exit codes",
    paragraph("The same for every command; scripts may depend on them."),
    table(["code", "meaning"], exitCodes.map((row) => [row.code, row.meaning])),
  ]);
}

function section({ path, spec }: NamedCommand): string[] {
  const args = spec.args ?? [];
  const options = (spec.options ?? [])
    .filter((option) => !option.isHidden && option !== jsonOption);
  const usage = ["otela", path, ...args.map(({ name }) => `<${name}>`)].join(" ");
  const own = options.filter(({ heading }) => !heading);
  return [
    `## ${usage}`,
    paragraph(`${spec.summary}.${spec.alias ? ` Also called \`otela ${spec.alias}\`.` : ""}`),
    ...args.length > 0 ? [table(["argument", "what it is"], args.map(argumentRow))] : [],
    ...own.length > 0 ? [optionTable(own)] : [],
    ...own.length < options.length
      ? [paragraph("Its flags are those of the configuration: see [CONFIG.md](CONFIG.md).")]
      : [],
    ...detailsOf(spec),
  ];
}

function argumentRow({ name, help }: { readonly name: string; readonly help: string }): string[] {
  return [code(`<${name}>`), help];
}

function optionTable(options: readonly OptionSpec[]): string {
  const rows = options.map(({ flag, value, help }) => [
    code(value ? `${flag} ${value}` : flag),
    help,
  ]);
  return table(["flag", "what it does"], rows);
}

/** Sentences as a paragraph; examples as a block, whose lines a test runs. */
function detailsOf({ details = [] }: CommandSpec): string[] {
  const at = details.indexOf("Examples:");
  const sentences = (at < 0 ? details : details.slice(0, at)).filter((line) => line !== "");
  const examples = at < 0 ? [] : details.slice(at + 1).map((line) => line.trim());
  return [
    ...sentences.length > 0 ? [paragraph(sentences.join(" "))] : [],
    ...examples.length > 0 ? [`\`\`\`sh\n${examples.join("\n")}\n\`\`\``] : [],
  ];
}
