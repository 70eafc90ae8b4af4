// How does fish complete our command lines?
import type { OptionSpec } from "../command.ts";
import type { Completable } from "./completable.ts";

/** A script for fish 3, to be sourced or put into `~/.config/fish/completions/otela.fish`. */
export function fishCompletion(all: readonly Completable[]): string {
  const lines = all.flatMap(({ path, words, options }) => {
    const condition = conditionOf(path, words.map(({ text }) => text));
    return [
      ...words.map(({ text, help }) =>
        `complete -c otela -f -n ${quoted(condition)} -a ${text} -d ${quoted(help)}`
      ),
      ...options.map((option) => flagLine(option, conditionOf(path, []))),
    ];
  });
  return [
    "# Completion of otela for fish. For this shell: otela completion fish | source",
    ...lines,
    "complete -c otela -l help -s h -d 'Explain it'",
  ].join("\n") + "\n";
}

/** All words of the path were typed, and none of those that would lead further. */
function conditionOf(path: readonly string[], further: readonly string[]): string {
  const seen = path.map((word) => `__fish_seen_subcommand_from ${word}`);
  if (path.length === 0) seen.push(further.length > 0 ? "__fish_use_subcommand" : "true");
  else if (further.length > 0 && path[0] !== "help") {
    seen.push(`not __fish_seen_subcommand_from ${further.join(" ")}`);
  }
  return seen.join("; and ");
}

function flagLine(option: OptionSpec, condition: string): string {
  const { flag, type, value, choices, help } = option;
  const line = ["complete -c otela", `-n ${quoted(condition)}`, `-l ${flag.slice(2)}`];
  if (choices?.length) line.push(`-x -a ${quoted(choices.join(" "))}`);
  else if (type !== "switch" && !value?.startsWith("[")) line.push("-r");
  return [...line, `-d ${quoted(help)}`].join(" ");
}

function quoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
