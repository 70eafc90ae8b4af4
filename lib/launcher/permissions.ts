// What may the node thread do? Exactly what its configuration needs, and nothing else.
import { basename, dirname, join } from "node:path";
import { type PeerId, shortPeerId } from "../base/peer_id.ts";
import type { NodeConfig } from "../config/node_config.ts";
import type { Tools } from "../config/thread_messages.ts";

/** What a node writes, absolute. */
export type NodeFolders = {
  /** Everything that the node writes about itself. */
  readonly state: readonly string[];
  /** The socket of the operator door. */
  readonly socketPath: string;
};

/** What the permissions are computed from. */
export type PermissionNeeds = {
  readonly config: NodeConfig;
  readonly folders: NodeFolders;
  readonly tools: Tools;
  readonly peer: PeerId;
  /** The path without links on its way; see {@link realPathOf}. */
  readonly realPath: (path: string) => string;
};

/**
 * The whole set; what is not in it is refused. No environment: the launcher passes what is needed as values
 * and `openThreadPort` takes `process.env` away. No ffi, no imports from the network, no shell.
 * All paths are absolute by now: `~` is not expanded in permissions, and a relative one would follow the
 * working directory.
 */
export function permissionsFor(needs: PermissionNeeds): Deno.PermissionOptionsObject {
  const { config, folders, tools, peer, realPath } = needs;
  // Homes of clusters are often links, and what is behind a link needs a right of its own.
  const paths = (some: string[]) =>
    [...new Set(some.flatMap((path) => [path, realPath(path)]))].sort();
  const own = [...folders.state, folders.socketPath];
  const engines = config.services.flatMap(({ socketPath }) => socketPath ?? []);
  const written = config.mesh.bootstrapFileWrite;
  // Others may read it at any time, so it is written beside and renamed. Its folder may be a home: not granted.
  const shared = written === null ? [] : [written, `${written}.${shortPeerId(peer)}.new`];
  const files = config.mesh.bootstrap.filter((source) => source.startsWith("file:"))
    .map((source) => source.slice("file:".length));
  const keys = config.doors.clientKeysFile ?? [];
  return {
    net: true, // A peer may be at any address.
    run: allOrNone(Object.values(tools)),
    read: paths([...own, ...engines, ...shared, ...files, keys].flat()),
    write: paths([...own, ...engines, ...shared]), // A Unix socket is called with the right to write it.
    sys: ["hostname", "networkInterfaces", "cpus", "systemMemoryInfo"],
    env: false,
    ffi: false,
    import: false,
  };
}

/** An empty list would be a grant of nothing, but Deno reads some empty lists as a grant of all. */
function allOrNone(paths: string[]): string[] | false {
  return paths.length === 0 ? false : paths;
}

/** The path without links on its way; what does not exist yet counts as no link. */
export function realPathOf(path: string): string {
  try {
    return Deno.realPathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(realPathOf(parent), basename(path));
  }
}
