// Where may the configuration file stand?
import { findingPlaces } from "./find_file.ts";
import { decodeEnv, decodeFlags, type FlagValues } from "./layers.ts";
import type { ConfigSources } from "./load.ts";
import { configError, type ConfigProblem } from "./problem.ts";

/**
 * The places where the configuration file is looked for, the first that exists being used; a new one belongs to the
 * first. Nothing is read, so it works whatever is wrong with the file.
 * @returns Empty when no home is known and nothing was said.
 * @throws {OtelaError} `config_invalid` when a flag or variable names no path.
 */
export function configFilePlaces(
  { flags, env, home, cwd }: Omit<ConfigSources, "readFile">,
): readonly string[] {
  const problems: ConfigProblem[] = [];
  const base = { directory: cwd, home };
  const place: FlagValues = { config: flags.config, "config-dir": flags["config-dir"] };
  const typed = decodeFlags(place, base, problems);
  const { OF_CONFIG, OF_CONFIG_DIR } = env;
  const set = decodeEnv({ OF_CONFIG, OF_CONFIG_DIR }, base, problems, []);
  if (problems.length > 0) throw configError(problems);
  const said = (key: string) => {
    const value = (typed.get(key) ?? set.get(key))?.value;
    return typeof value === "string" ? value : undefined;
  };
  return findingPlaces(said("config"), said("config_dir"), home);
}
