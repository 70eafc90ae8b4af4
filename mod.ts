// What does the library offer to other programs?
/**
 * OpenTela for Deno as a library: what a program needs to read a configuration and run a node.
 *
 * @example Runs a node until it is told to stop
 * ```ts ignore
 * import { launchNode, loadConfig, readConfigFile, resolvePlaces } from "@otela/otela";
 *
 * const [home, cwd] = ["/home/ada", Deno.cwd()];
 * const { config } = loadConfig({
 *   flags: { role: "head", port: "0" },
 *   env: {},
 *   readFile: readConfigFile,
 *   home,
 *   cwd,
 * });
 * const places = resolvePlaces({ ...config.state, env: {}, home, hostname: "ada", uid: 1000 });
 * await using node = await launchNode({
 *   config,
 *   places,
 *   version: { otela: "0.1.0", deno: Deno.version.deno, target: Deno.build.target },
 *   env: {},
 *   warn: console.warn,
 *   onEvent: () => {},
 * });
 * const { http } = await node.thread.ready;
 * console.log(await (await fetch(`${http}/v1/models`)).json());
 * ```
 * @module
 */
export { type ErrorCode, type ErrorFields, OtelaError } from "./lib/base/errors.ts";
export { isPeerId, parsePeerId, type PeerId, shortPeerId } from "./lib/base/peer_id.ts";
export { type ConfigSources, loadConfig, type LoadedConfig } from "./lib/config/load.ts";
export type { NodeConfig } from "./lib/config/node_config.ts";
export { type PlaceFacts, type Places, resolvePlaces } from "./lib/config/places.ts";
export { readConfigFile } from "./lib/config/read_file.ts";
export type { EventMessage, ReadyMessage, VersionFacts } from "./lib/config/thread_messages.ts";
export { type LaunchedNode, launchNode, type LaunchOptions } from "./lib/launcher/launch.ts";
export type { NodeThread } from "./lib/launcher/node_thread.ts";
