// Are many nodes, and bad addresses, dialled in time?
import { equal, ok, rejects } from "node:assert/strict";
import { isIP } from "node:net";
import { startMesh } from "../../lib/mesh/mesh.ts";
import type { Mesh } from "../../lib/mesh/types.ts";
import { openBlackHole } from "../support/black_hole.ts";
import { recordStream } from "../support/byte_stream_record.ts";
import { connected, until } from "../support/mesh_events.ts";
import { meshOptions, meshTest, withMeshes } from "../support/mesh_fixture.ts";
import { within } from "../support/within.ts";

meshTest("C052: one good address behind eleven black holes: first byte within 3 s", async () => {
  const holes = await Promise.all(Array.from({ length: 11 }, () => openBlackHole()));
  try {
    await withMeshes([{}, {}], async ([a, b]) => {
      b.handle("exchange", (_, stream) => {
        recordStream(stream);
        stream.send(Uint8Array.of(1));
      });
      const dead = holes.map(({ port }) => `/ip4/127.0.0.1/tcp/${port}`);
      const startMs = performance.now();
      await a.connect(b.peerId, [...dead, ...b.addresses()], AbortSignal.timeout(5_000));
      const stream = await a.openStream(b.peerId, "exchange", AbortSignal.timeout(5_000));
      await within(3_000, recordStream(stream).hasBytes(1));
      ok(performance.now() - startMs < 3_000);
    });
  } finally {
    holes.forEach((hole) => hole.close());
  }
});

meshTest("C049: 64 workers from one address join one head, all of them", async () => {
  await withMeshes([{}], async ([head]) => {
    const workers: Mesh[] = [];
    try {
      const bootstrap = head.multiaddrs();
      const starts = Array.from({ length: 64 }, async () => {
        workers.push(await startMesh(meshOptions({ role: "worker", listen: [], bootstrap })));
      });
      await Promise.all(starts);
      await within(14_000, Promise.all(workers.map(({ joined }) => joined)));
      await until(() => head.connectedPeers().length === 64);
      equal(head.counters().admitted, 64);
    } finally {
      await Promise.all(workers.map((worker) => worker.close()));
    }
  });
});

meshTest("Mesh.connect called many times at once dials once", async () => {
  await withMeshes([{}, {}], async ([a, b]) => {
    const calls = Array.from(
      { length: 20 },
      () => a.connect(b.peerId, b.addresses(), AbortSignal.timeout(5_000)),
    );
    await Promise.all(calls);
    equal(a.counters().dials, 1);
    equal(a.connectedPeers()[0].addresses.length, 1);
  });
});

meshTest("Mesh.connect gives up with its signal and tells who cannot be reached", async () => {
  const hole = await openBlackHole();
  await withMeshes([{}, {}], async ([a, b]) => {
    const reason = new Error("not now");
    const giveUp = new AbortController();
    const address = `/ip4/127.0.0.1/tcp/${hole.port}`;
    const dial = a.connect(b.peerId, [address], giveUp.signal);
    giveUp.abort(reason);
    await rejects(dial, reason);
    await rejects(a.connect(a.peerId, [], AbortSignal.timeout(1_000)), {
      code: "peer_unreachable",
    });
  });
  hole.close();
});

meshTest("Mesh listens on :: for both families and is reached on both", async () => {
  if (!Deno.networkInterfaces().some(({ address }) => address === "::1")) return;
  const listen = ["/ip4/0.0.0.0/tcp/0", "/ip6/::/tcp/0"];
  await withMeshes([{ listen, announceFilter: ["1.2.3.4/32"] }], async ([head]) => {
    for (const host of ["127.0.0.1", "::1"]) {
      const address = head.addresses().find((each) => each.includes(`/ip${isIP(host)}/${host}/`))!;
      await withMeshes([{}], async ([a]) => {
        await a.connect(head.peerId, [address], AbortSignal.timeout(5_000));
        await connected(head, a);
      });
    }
  });
});
