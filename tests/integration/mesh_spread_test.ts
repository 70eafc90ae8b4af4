// Does what one node says reach all others, however few they are and whoever starts last?
import { deepEqual, equal } from "node:assert/strict";
import type { Mesh, MeshOptions } from "../../lib/mesh/types.ts";
import { startMesh } from "../../lib/mesh/mesh.ts";
import { until } from "../support/mesh_events.ts";
import { meshOptions, meshTest, newPrivateKey, withMeshes } from "../support/mesh_fixture.ts";

/** Lets everybody speak until everybody has heard everybody else. Each says its own number. */
async function untilAllHeard(meshes: readonly Mesh[]): Promise<void> {
  const heard = meshes.map((mesh, at) => {
    const from = new Set<number>([at]);
    mesh.onGossip((_, [speaker]) => (from.add(speaker), "accept"));
    return from;
  });
  let lookCount = 0;
  await until(() => {
    // Ten a second: the first ones may come before the neighbours know of each other.
    if (lookCount++ % 20 === 0) {
      meshes.forEach((mesh, at) => void mesh.publish(Uint8Array.of(at, lookCount / 20)));
    }
    return heard.every(({ size }) => size === meshes.length);
  });
}

for (const count of [2, 3, 5]) {
  meshTest(`B55: of ${count} nodes in a row each hears each`, async () => {
    await withMeshes(Array.from({ length: count }, () => ({})), async (meshes) => {
      for (const [at, mesh] of meshes.entries()) {
        const next = meshes[at + 1];
        if (next) await mesh.connect(next.peerId, next.addresses(), AbortSignal.timeout(5_000));
      }
      await untilAllHeard(meshes);
    });
  });
}

meshTest(
  "B55: of 50 nodes, each connected to a head and two others, each hears the first",
  async () => {
    await withMeshes(Array.from({ length: 50 }, () => ({})), async (meshes) => {
      await Promise.all(
        meshes.flatMap((mesh, at) =>
          [0, (at + 7) % 50, (at + 23) % 50].filter((other) => other !== at).map((other) => {
            const { peerId } = meshes[other];
            return mesh.connect(peerId, meshes[other].addresses(), AbortSignal.timeout(20_000));
          })
        ),
      );
      const [speaker, ...listeners] = meshes;
      const deaf = new Set(listeners);
      for (const mesh of listeners) {
        mesh.onGossip(() => (deaf.delete(mesh), "accept"));
      }
      let lookCount = 0;
      await until(() => {
        if (lookCount++ % 20 === 0) void speaker.publish(Uint8Array.of(0, lookCount / 20));
        return deaf.size === 0;
      }, 20_000);
    });
  },
);

meshTest(
  "B82: the port of a mesh that has closed is free at once, whether somebody was connected",
  async () => {
    const privateKeyProtobuf = newPrivateKey();
    let listen = ["/ip4/127.0.0.1/tcp/0"];
    for (const isAlone of [true, false, true, true]) {
      await withMeshes([{}], async ([peer]) => {
        await withMeshes([{ privateKeyProtobuf, listen }], async ([mesh]) => {
          listen = mesh.addresses();
          if (isAlone) return;
          await peer.connect(mesh.peerId, listen, AbortSignal.timeout(5_000));
        });
      });
    }
  },
);

for (const order of ["hub first", "hub between", "hub last"]) {
  meshTest(
    `B57: words cross a node that others enter by in both directions, ${order}`,
    async () => {
      const privateKeyProtobuf = newPrivateKey();
      const former = await startMesh(meshOptions({ privateKeyProtobuf }));
      const hub: Partial<MeshOptions> = { privateKeyProtobuf, listen: former.addresses() };
      const leaf: Partial<MeshOptions> = { listen: [], bootstrap: former.multiaddrs() };
      await former.close();
      const nodes = [leaf, leaf];
      nodes.splice(["hub first", "hub between", "hub last"].indexOf(order), 0, hub);
      await withMeshes(nodes, async (meshes) => {
        let disconnectCount = 0;
        for (const mesh of meshes) {
          mesh.subscribe(({ type }) => type === "disconnected" && disconnectCount++);
        }
        await untilAllHeard(meshes);
        deepEqual(meshes.map((mesh) => mesh.connectedPeers().length).sort(), [1, 1, 2]);
        // B56: nobody closes a connection of its own to get there.
        equal(disconnectCount, 0);
      });
    },
  );
}
