// Which node does a command line mean, and how is it configured?
import { hostname } from "node:os";
import { OtelaError } from "../lib/base/errors.ts";
import { configFilePlaces as findPlaces } from "../lib/config/locate.ts";
import { readConfigFile } from "../lib/config/read_file.ts";
import { type ConfigSources, loadConfig, type LoadedConfig } from "../lib/config/load.ts";
import { type Places, resolvePlaces } from "../lib/config/places.ts";
import type { Call } from "./command.ts";
import { configFlagsOf } from "./config_options.ts";
import type { CommandIo } from "./io.ts";

/** A checked configuration and the places of the node that it describes. */
export type MeantNode = LoadedConfig & { readonly places: Places };

/**
 * Where the configuration file may stand, at least one place: the first that exists is read, a new one belongs to the
 * first.
 * @throws {OtelaError} `config_invalid` when no home is known and no place was named.
 */
export function configFilePlaces(call: Call, io: CommandIo): readonly string[] {
  const places = findPlaces(sourcesOf(call, io));
  if (places.length > 0) return places;
  throw new OtelaError(
    "config_invalid",
    "Cannot tell where the configuration belongs as HOME must be set or --config-dir given",
  );
}

/** The first that exists, even if it cannot be read; `undefined` when none does. */
export function configFileInUse(places: readonly string[]): string | undefined {
  return places.find((path) => {
    try {
      return readConfigFile(path) !== undefined;
    } catch {
      return true; // Something is there; what is wrong with it is told by whoever needs what it says.
    }
  });
}

function sourcesOf(call: Call, io: CommandIo): Omit<ConfigSources, "readFile"> {
  return { flags: configFlagsOf(call), env: io.env, home: io.env.HOME || null, cwd: io.cwd };
}

/**
 * Reads defaults, file, environment and flags. Writes nothing.
 * @throws {OtelaError} `config_invalid`.
 */
export function readConfig(call: Call, io: CommandIo): LoadedConfig {
  return loadConfig({ ...sourcesOf(call, io), readFile: readConfigFile });
}

/**
 * The same, and where the node keeps its files.
 * @throws {OtelaError} `config_invalid`, or what is wrong with the places.
 */
export function readNodeConfig(call: Call, io: CommandIo): MeantNode {
  const loaded = readConfig(call, io);
  const { state } = loaded.config;
  const home = io.env.HOME || null;
  const uid = Deno.uid() ?? 0; // None on Windows, where there is no node either.
  const places = resolvePlaces({ ...state, env: io.env, home, hostname: hostname(), uid });
  return { ...loaded, places };
}
