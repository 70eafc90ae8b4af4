// Which flags of the configuration does the command line know?
import { type ConfigFlag, configFlags } from "../lib/config/flags.ts";
import { keyHeadings } from "../lib/config/key_heading.ts";
import type { FlagValues } from "../lib/config/layers.ts";
import type { Call, OptionSpec } from "./command.ts";

/** Keys that say which node of this user is meant: every command knows their flags. */
const placeKeys = new Set(["config", "config_dir", "state_dir", "instance"]);

/** Flags that say which node is meant. */
export const placeOptions: readonly OptionSpec[] = configFlags
  .filter(({ key }) => placeKeys.has(key)).map(optionOf);

/** All other flags of the configuration. */
export const nodeOptions: readonly OptionSpec[] = configFlags
  .filter(({ key }) => !placeKeys.has(key)).map(optionOf)
  .sort((a, b) => keyHeadings.indexOf(a.heading!) - keyHeadings.indexOf(b.heading!));

/** The same for commands that only look: known, but shown in the help of `start` alone. */
export const hiddenNodeOptions: readonly OptionSpec[] = nodeOptions
  .map((option) => ({ ...option, isHidden: true }));

/** What of a call the configuration wants to know. */
export function configFlagsOf(call: Call): FlagValues {
  return Object.fromEntries(configFlags.map(({ flag, name }) => [name, call.flags.get(flag)]));
}

function optionOf(row: ConfigFlag): OptionSpec {
  const choices = row.choices?.filter((choice) => /^[a-z]/.test(choice)); // A log level may be a number too.
  return {
    flag: row.flag,
    type: row.isRepeatable ? "list" : "text",
    value: row.placeholder,
    help: choices ? `${row.help} (${choices.join(", ")})` : row.help,
    heading: row.heading,
    choices,
    isHidden: !row.isImplemented,
  };
}
