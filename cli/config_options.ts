// Which flags of the configuration does the command line know?
import { type ConfigFlag, configFlags } from "../lib/config/flags.ts";
import type { FlagValues } from "../lib/config/layers.ts";
import type { Call, OptionSpec } from "./command.ts";

/** Keys that say which node of this user is meant: every command knows their flags. */
const placeKeys = new Set(["config", "config_dir", "state_dir", "instance"]);

/** Flags that say which node is meant. */
export const placeOptions: readonly OptionSpec[] = configFlags
  .filter(({ key }) => placeKeys.has(key)).map(optionOf);

/** All other flags of the configuration. */
export const nodeOptions: readonly OptionSpec[] = configFlags
  .filter(({ key }) => !placeKeys.has(key)).map(optionOf);

/** What of a call the configuration wants to know. */
export function configFlagsOf(call: Call): FlagValues {
  return Object.fromEntries(configFlags.map(({ flag, name }) => [name, call.flags.get(flag)]));
}

function optionOf(row: ConfigFlag): OptionSpec {
  const type = row.isRepeatable ? "list" : "text";
  const value = row.choices ? `<${row.choices.join("|")}>` : row.placeholder;
  return { flag: row.flag, type, value, help: row.help, isHidden: !row.isImplemented };
}
