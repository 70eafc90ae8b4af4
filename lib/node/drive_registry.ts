// What does the node do with what the registry asks for?
import { duplicateError, storeEpoch } from "./create_registry.ts";
import type { Parts } from "./parts.ts";
import { type ClaimLoading, RegistryDriver } from "./registry_driver.ts";

/** Joins the registry to gossip, loader, syncs, membership and files. */
export function driveRegistry(parts: Parts, loader: ClaimLoading): RegistryDriver {
  const { options, mesh, registry } = parts;
  const isHub = options.config.role !== "worker";
  return new RegistryDriver({
    registry,
    clock: parts.clock,
    log: options.log,
    loader,
    // Alone there is nobody to tell, and a sync tells whoever comes.
    publish: (envelope) => void mesh.publish(envelope).catch(() => {}),
    show: (peer, envelope) => parts.syncs.show(peer, envelope),
    storeEpoch: (epoch) => {
      parts.memberDriver.apply({ type: "epochRaised", epoch });
      return storeEpoch(options.places.epochFile, epoch);
    },
    changed: (owner) => {
      parts.network.changed();
      if (owner === registry.self) return;
      const entry = registry.entries.get(owner);
      if (!entry) return;
      // Heads look for everybody; workers and relays are found by heads, and look for heads.
      const isPeerHub = entry.claim.role !== "worker";
      const isWanted = isHub || isPeerHub;
      const seen = { peer: owner, epoch: entry.epoch, isWanted, isHub: isPeerHub };
      parts.memberDriver.apply({ type: "claimSeen", ...seen });
      parts.snapshots.changed();
    },
    removed: (owner) => {
      parts.memberDriver.apply({ type: "claimGone", peer: owner });
      parts.network.changed();
    },
    duplicate: (hosts, mustYield) => {
      if (mustYield) options.mustEnd(duplicateError(hosts));
    },
    worked: () => parts.syncs.worked(),
  });
}
