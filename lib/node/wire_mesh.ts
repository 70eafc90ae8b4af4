// Who hears what of the mesh?
import type { PeerId } from "../base/peer_id.ts";
import { listened } from "./listened_stream.ts";
import type { Parts } from "./parts.ts";

/** Gives streams, gossip and the coming and going of peers to the parts that live by them. */
export function wireMesh(parts: Parts): void {
  const { mesh, server, syncs, registryDriver, memberDriver } = parts;
  const heard = (peer: PeerId) => memberDriver.noticed(peer, "heard");
  mesh.handle(
    "exchange",
    (peer, stream) => server.accept(peer, listened(stream, () => heard(peer))),
  );
  mesh.handle("sync", (peer, stream) => syncs.accept(peer, listened(stream, () => heard(peer))));
  mesh.handle("probe", (peer, stream) => memberDriver.accept(peer, stream));
  mesh.onGossip((from, bytes) => {
    return memberDriver.gossiped(bytes) ?? registryDriver.gossiped(from, bytes);
  });
  mesh.subscribe((event) => {
    if (event.type === "connected") connected(parts, event.peer, event.isRelayed);
    else if (event.type === "disconnected") disconnected(parts, event.peer);
  });
  for (const { peer, isRelayed } of mesh.connectedPeers()) connected(parts, peer, isRelayed);
}

function connected(parts: Parts, peer: PeerId, isRelayed: boolean): void {
  const { registry, pool, memberDriver, network, syncs, claims } = parts;
  registry.connectionOpened(peer);
  pool.forgive(peer);
  if (!isRelayed) pool.betterPath(peer);
  memberDriver.apply({ type: "connected", peer });
  network.changed();
  syncs.opened(peer);
  // A connection can show this node an address of its own that it did not know.
  claims.changed();
}

function disconnected(parts: Parts, peer: PeerId): void {
  const { registry, memberDriver, network, syncs } = parts;
  registry.connectionClosed(peer);
  syncs.disconnected(peer);
  memberDriver.disconnected(peer);
  network.changed();
}
