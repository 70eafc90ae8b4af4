// Does the DHT answer its two questions, and does an empty one do no harm?
import { deepEqual, ok } from "node:assert/strict";
import { multiaddr } from "@multiformats/multiaddr";
import { parsePeerId } from "../../lib/base/peer_id.ts";
import { Directory } from "../../lib/mesh/directory.ts";
import { createHost, type Host } from "../../lib/mesh/host.ts";
import { meshProtocols } from "../../lib/mesh/mesh_protocols.ts";
import { noiseCrypto } from "../../lib/mesh/noise_crypto.ts";
import type { Role } from "../../lib/registry/claim.ts";
import { until } from "../support/mesh_events.ts";
import { meshOptions, meshTest, withMeshes } from "../support/mesh_fixture.ts";
import { within } from "../support/within.ts";

/** Bare hosts, every connection admitted; the first is known to all others. */
async function withHosts(roles: readonly Role[], body: (hosts: Host[]) => Promise<void>) {
  const hosts: Host[] = [];
  try {
    for (const role of roles) {
      const { privateKeyProtobuf, listen } = meshOptions();
      const host = await createHost({
        privateKeyProtobuf,
        role,
        listen,
        protocols: meshProtocols("test"),
        crypto: await noiseCrypto(),
        connectionsMax: 100,
        gate: { isAdmitted: () => true, settled: () => Promise.resolve() },
        isDenied: () => false,
      });
      hosts.push(host);
      await host.libp2p.start();
      const [first] = hosts[0].libp2p.getMultiaddrs();
      if (host !== hosts[0]) {
        await host.dial(multiaddr(first.toString()), AbortSignal.timeout(5_000));
      }
    }
    // Not in the public type; there is no event for it either.
    const [first, ...others] = hosts.map(({ libp2p }) =>
      libp2p.services.dht as unknown as { readonly routingTable: { readonly size: number } }
    );
    const servers = roles.slice(1).filter((role) => role !== "worker").length;
    await until(() =>
      others.every((dht) => dht.routingTable.size > 0) && first.routingTable.size >= servers
    );
    await body(hosts);
  } finally {
    await Promise.all(hosts.map(({ libp2p }) => libp2p.stop()));
  }
}

meshTest(
  "Directory tells a worker of a head that it is not connected to, and where it is",
  async () => {
    await withHosts(["head", "head", "worker"], async ([, second, worker]) => {
      const [address] = second.libp2p.getMultiaddrs().map(String);
      await new Directory(second.libp2p, "test").announce();
      const asking = new Directory(worker.libp2p, "test");
      const heads = await asking.heads();
      ok(heads.includes(address), heads.join());
      const located = await asking.locate(parsePeerId(second.libp2p.peerId.toString()));
      ok(located.includes(address), located.join());
      deepEqual(await new Directory(worker.libp2p, "another network").heads(), []);
    });
  },
);

meshTest("Mesh with an empty DHT works", async () => {
  await withMeshes([{ role: "worker" }], async ([first]) => {
    await withMeshes([{ role: "worker", bootstrap: first.multiaddrs() }], async ([second]) => {
      await within(5_000, second.joined);
      deepEqual(second.connectedPeers().map(({ peer }) => peer), [first.peerId]);
    });
  });
});
