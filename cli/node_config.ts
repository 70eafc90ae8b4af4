// Which node does a command line mean, and how is it configured?
import { hostname } from "node:os";
import { readConfigFile } from "../lib/config/read_file.ts";
import { loadConfig, type LoadedConfig } from "../lib/config/load.ts";
import { type Places, resolvePlaces } from "../lib/config/places.ts";
import type { Call } from "./command.ts";
import { configFlagsOf } from "./config_options.ts";
import type { CommandIo } from "./io.ts";

/** A checked configuration and the places of the node that it describes. */
export type MeantNode = LoadedConfig & { readonly places: Places };

/**
 * Reads defaults, file, environment and flags. Writes nothing.
 * @throws {OtelaError} `config_invalid`, or what is wrong with the places.
 */
export function readNodeConfig(call: Call, io: CommandIo): MeantNode {
  const home = io.env.HOME || null;
  const loaded = loadConfig({
    flags: configFlagsOf(call),
    env: io.env,
    readFile: readConfigFile,
    home,
    cwd: io.cwd,
  });
  const { state } = loaded.config;
  const uid = Deno.uid() ?? 0; // None on Windows, where there is no node either.
  const places = resolvePlaces({ ...state, env: io.env, home, hostname: hostname(), uid });
  return { ...loaded, places };
}
