// What may a program say when it starts a node, and what does the configuration make of it?
import { OtelaError } from "../base/errors.ts";
import type { LogLevel } from "../base/ports.ts";
import { loadConfig } from "../config/load.ts";
import { nearest } from "../config/nearest.ts";
import type { NodeConfig } from "../config/node_config.ts";
import { readConfigFile } from "../config/read_file.ts";
import { keyNamed, namesInFile } from "../config/schema.ts";
import type { OfferOptions } from "./offer_options.ts";

/**
 * Everything about a node that a program may want to say; all of it may be left out. Nothing is read from the
 * user's files or environment.
 *
 * @example A head that listens on loopback only
 * ```ts
 * import { equal } from "node:assert/strict";
 * import { startNode, type StartOptions } from "@otela/otela";
 *
 * const options: StartOptions = {
 *   role: "head",
 *   network: "lab",
 *   secret: "correct horse battery staple",
 *   meshHosts: ["127.0.0.1"],
 *   settings: { "limits.head_timeout": "30s" },
 * };
 * await using node = await startNode(options);
 * equal(node.peers()[0].claim.role, "head");
 * ```
 */
export type StartOptions = {
  /** What others should expect of it; any role can call and offer services. `worker` when absent. */
  readonly role?: "head" | "worker" | "relay";
  /** Name of the mesh, `opentela` when absent. */
  readonly network?: string;
  /** Closes the mesh to everybody who does not know it; an open mesh when absent. */
  readonly secret?: string;
  /** Where to enter the mesh: multiaddrs, `dnsaddr://host`, URLs or `file:/path`. Alone when empty. */
  readonly bootstrap?: readonly string[];
  /** Offered from the start, as by `MeshNode.offer`. */
  readonly services?: readonly OfferOptions[];
  /** Address of the client door; loopback when absent, whatever the role. */
  readonly httpHost?: string;
  /** Port of the client door; any free one when absent or 0. */
  readonly httpPort?: number;
  /** Addresses on which peers reach this node; all interfaces when absent. */
  readonly meshHosts?: readonly string[];
  /** Port for peers; any free one when absent or 0. */
  readonly meshPort?: number;
  /** Labels in this node's claim. */
  readonly labels?: Readonly<Record<string, string>>;
  /**
   * Folder that keeps key and registry, so that the node is the same peer at its next start. One process uses it
   * at a time; to tell whether another still lives, `cat` and `readlink` are run, when permitted. A temporary
   * folder when absent: the node is a new peer, and takes its claim back when it stops.
   */
  readonly stateDir?: string;
  /** Any key of the configuration by its name, as in the file: `{ "limits.head_timeout": "30s" }`. */
  readonly settings?: Readonly<Record<string, string | number | boolean | readonly string[]>>;
  /** Takes whole lines of the log, each with its line feed; nobody does when absent. */
  readonly log?: (line: string) => void;
  /** Least severe record that is logged; `info` when absent. */
  readonly logLevel?: LogLevel;
};

/**
 * The configuration that these options mean, by the rules of the command line, and what a person should know of it.
 * @throws {OtelaError} `config_invalid`. It names options as the command line does: `--port` is `httpPort`.
 */
export function configOf(
  options: StartOptions,
): { readonly config: NodeConfig; readonly warnings: readonly string[] } {
  return loadConfig({
    flags: flagsOf(options),
    env: variablesOf(options),
    readFile: readConfigFile,
    home: null,
    cwd: Deno.cwd(),
  });
}

function flagsOf(options: StartOptions): Record<string, string | undefined> {
  const { bootstrap, httpHost, httpPort, meshHosts, meshPort, labels } = options;
  return {
    role: options.role,
    network: options.network,
    bootstrap: bootstrap && JSON.stringify(bootstrap),
    host: httpHost ?? "127.0.0.1",
    port: String(httpPort ?? 0),
    "mesh.hosts": meshHosts && JSON.stringify(meshHosts),
    tcpport: String(meshPort ?? 0),
    label: labels && JSON.stringify(labels),
    "log-level": options.logLevel,
  };
}

/** A secret has no flag, since command lines are public on a machine; nor have most keys. */
function variablesOf({ secret, settings = {} }: StartOptions): Record<string, string | undefined> {
  const variables: Record<string, string | undefined> = { OF_NETWORK_SECRET: secret };
  for (const [name, value] of Object.entries(settings)) {
    const row = keyNamed(name) ?? unknownKey(name);
    variables[row.env] = typeof value === "object" ? JSON.stringify(value) : String(value);
  }
  return variables;
}

function unknownKey(name: string): never {
  const near = nearest(name, namesInFile());
  const hint = near === undefined ? "it is none" : `did you mean "${near}"?`;
  throw new OtelaError(
    "config_invalid",
    `Cannot use the setting "${
      name.slice(0, 80)
    }" as it must be a key of the configuration: ${hint}`,
  );
}
