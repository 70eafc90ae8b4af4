// What can be typed after each beginning of a command line?
import type { ArgumentSpec, CommandGroup, CommandSpec, OptionSpec } from "../command.ts";
import { jsonOption } from "../command.ts";

/** Something to type next. */
export type Word = { readonly text: string; readonly help: string };

/** A command, or the beginning of one, and what may follow it. */
export type Completable = {
  /** The words that name it; none for the program itself. */
  readonly path: readonly string[];
  /** Commands that go on from here, else what its first argument may be. */
  readonly words: readonly Word[];
  readonly options: readonly OptionSpec[];
};

/**
 * Every beginning, the program's own first, `help` included.
 * @param place Options that every command knows.
 */
export function completables(
  commands: readonly (CommandSpec | CommandGroup)[],
  place: readonly OptionSpec[],
): Completable[] {
  const help = { text: "help", help: "Explain a command" };
  const names = commands.flatMap(namesOf);
  return [
    { path: [], words: [...names, help], options: place },
    ...commands.flatMap((spec) => below([], spec, place)),
    { path: ["help"], words: names, options: [] },
  ];
}

/** A flag that waits for a value, and the values that are known; none when a file may be meant. */
export type ValuedFlag = { readonly flag: string; readonly choices: readonly string[] };

/** Every flag after which a value must come, each once. */
export function valuedFlags(all: readonly Completable[]): ValuedFlag[] {
  const options = new Map(all.flatMap(({ options }) => options.map((one) => [one.flag, one])));
  return [...options.values()]
    .filter(({ type, value, choices }) =>
      type !== "switch" && (choices?.length || !value?.startsWith("["))
    )
    .map(({ flag, choices = [] }) => ({ flag, choices }));
}

function below(
  path: readonly string[],
  spec: CommandSpec | CommandGroup,
  place: readonly OptionSpec[],
): Completable[] {
  if ("commands" in spec) {
    const here = { path: [...path, spec.name], words: spec.commands.flatMap(namesOf), options: [] };
    return [here, ...spec.commands.flatMap((child) => below(here.path, child, place))];
  }
  const words = choicesOf(spec.args?.[0]);
  const options = [...spec.options ?? [jsonOption], ...place].filter(({ isHidden }) => !isHidden);
  return namesOf(spec).map(({ text }) => ({ path: [...path, text], words, options }));
}

function namesOf(spec: CommandSpec | CommandGroup): Word[] {
  const { name, summary } = spec;
  const alias = "alias" in spec && spec.alias ? [{ text: spec.alias, help: summary }] : [];
  return [{ text: name, help: summary }, ...alias];
}

function choicesOf(argument: ArgumentSpec | undefined): Word[] {
  return argument?.choices?.map((text) => ({ text, help: argument.help })) ?? [];
}
