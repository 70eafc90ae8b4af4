// How does a program start a node in its own thread?
import project from "../../deno.json" with { type: "json" };
import type { NodeConfig } from "../config/node_config.ts";
import { startNode as startNodeHere } from "../node/node.ts";
import { ownHelperThreads } from "../platform/helper_threads.ts";
import { MeshNode } from "./mesh_node.ts";
import { configOf, type StartOptions } from "./start_options.ts";
import { openStateHome, type StateHome } from "./state_home.ts";

/**
 * Starts a node in this thread: it has joined its mesh, or knows that it is alone, and its doors are open. Several in
 * one process are several peers. The program needs `--allow-net`, `--allow-read`, `--allow-write`, `--allow-sys` and
 * `--allow-env`, and `--unstable-worker-options`, since documents of strangers are read in a thread without permissions.
 * @throws {OtelaError} `config_invalid` for options that cannot be, by the rules of the command line; `bad_request` for
 * services that cannot be; `instance_locked`, `port_busy`, `state_unusable`, `identity_damaged`.
 *
 * @example OpenAI's client, without a server in between
 * ```ts
 * import { equal } from "node:assert/strict";
 * import OpenAI from "openai";
 * import { startNode } from "@otela/otela";
 *
 * const models = { object: "list", data: [{ id: "parrot", object: "model" }] };
 * const chat = { choices: [{ index: 0, message: { role: "assistant", content: "Squawk" } }] };
 * await using node = await startNode();
 * const offer = await node.offer({
 *   name: "llm",
 *   handler: ({ url }) => Response.json(url.endsWith("/v1/models") ? models : chat),
 * });
 * await offer.ready();
 *
 * const openai = new OpenAI({ baseURL: "service:llm/v1", apiKey: "none", fetch: node.fetch });
 * const messages = [{ role: "user" as const, content: "Hello" }];
 * const answer = await openai.chat.completions.create({ model: "parrot", messages });
 * equal(answer.choices[0].message.content, "Squawk");
 * ```
 */
export async function startNode(options: StartOptions = {}): Promise<MeshNode> {
  const { config, warnings } = configOf(options);
  const writeLog = options.log ?? (() => {});
  const warn = (warning: string) => writeLog(`${warning}\n`);
  warnings.forEach(warn);
  const mesh = await startIn(await openStateHome(options.stateDir, warn), config, writeLog);
  try {
    for (const service of options.services ?? []) await mesh.offer(service);
    return mesh;
  } catch (error) {
    await mesh.stop({ drainMs: 0 });
    throw error;
  }
}

async function startIn(
  home: StateHome,
  config: NodeConfig,
  writeLog: (line: string) => void,
): Promise<MeshNode> {
  const { places, socketPath } = home;
  const version = {
    otela: project.version,
    deno: Deno.version.deno,
    target: Deno.build.target,
  };
  try {
    const helpers = ownHelperThreads;
    const parts = { config, places, socketPath, version, tools: {}, helpers, writeLog };
    return new MeshNode(await startNodeHere(parts), home);
  } catch (error) {
    await home.close();
    throw error;
  }
}
