// What does the node do with what membership asks for?
import type { ByteStream } from "../base/byte_stream.ts";
import type { Clock } from "../base/ports.ts";
import type { PeerId } from "../base/peer_id.ts";
import { verifySignature } from "../identity/public_key.ts";
import { Membership } from "../membership/membership.ts";
import type { Registry } from "../registry/registry.ts";
import { MemberDriver } from "./member_driver.ts";
import type { NodePartsOptions, Parts } from "./parts.ts";

/** The membership of a node, with the checks that need keys. */
export function createMembership(
  { config, identity, epoch }: NodePartsOptions,
  registry: Registry,
  clock: Clock,
): Membership {
  return new Membership({
    self: identity.peerId,
    network: config.network.name,
    epoch,
    isHead: config.role === "head",
    sign: (message) => identity.sign(message),
    verify: (signer, message, signature) => {
      const key = registry.publicKeyOf(signer);
      return key !== undefined && verifySignature(key, message, signature);
    },
    epochOf: (peer) => registry.entries.get(peer)?.epoch ?? 0,
    root: () => registry.root,
    nowMs: clock.nowMs(),
    random: Math.random,
  });
}

/** Joins membership to streams, dials, gossip, the registry and its syncs. */
export function driveMembership(
  parts: Parts,
  openStream: (peer: PeerId, signal: AbortSignal) => Promise<ByteStream>,
): MemberDriver {
  const { options, mesh, registry } = parts;
  return new MemberDriver({
    members: parts.members,
    clock: parts.clock,
    random: Math.random,
    log: options.log,
    connect: (peer, signal) => {
      return mesh.connect(peer, registry.entries.get(peer)?.claim.addresses ?? [], signal);
    },
    openStream,
    hangUp: (peer) => void mesh.disconnect(peer).catch(() => {}),
    // Alone there is nobody to tell.
    publish: (bytes) => void mesh.publish(bytes).catch(() => {}),
    rootSeen: (peer, root) => parts.syncs.rootSeen(peer, root),
    epochSeen: (epoch) => parts.registryDriver.epochSeen(epoch),
    changed: () => parts.network.changed(),
  });
}
