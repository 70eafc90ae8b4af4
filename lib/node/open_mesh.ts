// How does a node come to its mesh as its configuration says?
import { OtelaError } from "../base/errors.ts";
import { isPeerId } from "../base/peer_id.ts";
import { startMesh } from "../mesh/mesh.ts";
import type { Mesh } from "../mesh/types.ts";
import { announcedAddresses } from "./announced_addresses.ts";
import { monotonicClock } from "./clock.ts";
import type { NodePartsOptions } from "./parts.ts";

/**
 * Listens and begins to look for the mesh. The default port, when another node of this machine has it, becomes
 * a free one; a port that somebody asked for is not replaced.
 * @throws {OtelaError} `port_busy`, `identity_damaged`.
 */
export async function openMesh(options: NodePartsOptions): Promise<Mesh> {
  const { mesh, role } = options.config;
  try {
    return await listen(options, mesh.listen);
  } catch (error) {
    const isReplaceable = error instanceof OtelaError && error.code === "port_busy" &&
      !mesh.tcpPortIsExplicit;
    if (!isReplaceable) throw error;
    options.log.warn("mesh.moved", { role, busy: mesh.tcpPort });
    return await listen(options, mesh.listen.map((address) => address.replace(/\d+$/, "0")));
  }
}

function listen(options: NodePartsOptions, addresses: readonly string[]): Promise<Mesh> {
  const { config, identity, log } = options;
  return startMesh({
    network: config.network.name,
    secret: config.network.secret ?? undefined,
    privateKeyProtobuf: identity.privateKeyProtobuf,
    role: config.role,
    listen: addresses,
    announce: announcedAddresses(config.mesh),
    announceFilter: config.mesh.announceFilter,
    bootstrapWrite: config.mesh.bootstrapFileWrite,
    connectionsMax: config.mesh.connectionsMax,
    bootstrap: config.mode === "standalone" ? [] : config.mesh.bootstrap,
    deny: config.mesh.deny.filter(isPeerId),
    clock: monotonicClock,
    random: Math.random,
    log,
  });
}
