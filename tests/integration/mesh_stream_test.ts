// Are streams of the mesh what lanes need?
import { Buffer } from "node:buffer";
import { equal, ok, rejects } from "node:assert/strict";
import type { ByteStream } from "../../lib/base/byte_stream.ts";
import { KiB, MiB } from "../../lib/base/units.ts";
import { startMesh } from "../../lib/mesh/mesh.ts";
import type { Mesh } from "../../lib/mesh/types.ts";
import { testByteStream } from "../contract/byte_stream.ts";
import { recordStream } from "../support/byte_stream_record.ts";
import { meshOptions, meshTest, withMeshes } from "../support/mesh_fixture.ts";
import { within } from "../support/within.ts";

async function openPair(a: Mesh, b: Mesh): Promise<{ near: ByteStream; far: ByteStream }> {
  const accepted = Promise.withResolvers<ByteStream>();
  b.handle("exchange", (_, stream) => accepted.resolve(stream));
  await a.connect(b.peerId, b.addresses(), AbortSignal.timeout(5_000));
  const near = await a.openStream(b.peerId, "exchange", AbortSignal.timeout(5_000));
  return { near, far: await within(5_000, accepted.promise) };
}

testByteStream("MeshStream", async () => {
  const [a, b] = [await startMesh(meshOptions()), await startMesh(meshOptions())];
  const { near, far } = await openPair(a, b);
  return {
    a: near,
    b: far,
    cut: () => void a.disconnect(b.peerId),
    close: async () => void await Promise.all([a.close(), b.close()]),
  };
}, meshTest);

meshTest("MeshStream carries 64 MiB whole, with little unsent at any time", async () => {
  await withMeshes([{}, {}], async ([a, b]) => {
    const { near, far } = await openPair(a, b);
    const piece = Uint8Array.from({ length: 64 * KiB }, (_, i) => (i * 7) & 255);
    const total = 64 * MiB;
    let received = 0;
    let isWhole = true;
    const arrived = Promise.withResolvers<void>();
    far.bind({
      data(chunk) {
        for (let offset = 0; offset < chunk.byteLength;) {
          const start = (received + offset) % piece.byteLength;
          const length = Math.min(piece.byteLength - start, chunk.byteLength - offset);
          const is = chunk.subarray(offset, offset + length);
          isWhole &&= Buffer.compare(is, piece.subarray(start, start + length)) === 0;
          offset += length;
        }
        received += chunk.byteLength;
        if (received >= total) arrived.resolve();
      },
      drained() {},
      closed() {},
    });
    let sent = 0;
    let unsentMost = 0;
    const pump = () => {
      while (sent < total) {
        sent += piece.byteLength;
        const isMoreWelcome = near.send(piece);
        unsentMost = Math.max(unsentMost, near.unsentBytes);
        if (!isMoreWelcome) return;
      }
    };
    near.bind({ data() {}, drained: pump, closed() {} });
    const startMs = performance.now();
    pump();
    await within(15_000, arrived.promise);
    const mibPerS = Math.round(64_000 / (performance.now() - startMs));
    ok(isWhole, "bytes changed on the way");
    ok(unsentMost <= 2 * MiB, `${unsentMost} bytes were unsent`);
    console.log(`      ${mibPerS} MiB/s one way, both ends in this process`);
  });
});

meshTest("MeshStream of a dead connection is closed in the turn of the disconnect", async () => {
  await withMeshes([{}, {}], async ([a, b]) => {
    const { near, far } = await openPair(a, b);
    const record = recordStream(near);
    recordStream(far);
    const other = recordStream(
      await a.openStream(b.peerId, "exchange", AbortSignal.timeout(5_000)),
    );
    const told = Promise.withResolvers<boolean>();
    // A microtask after those that the event itself queued still belongs to the same turn.
    a.subscribe(({ type }) => {
      if (type !== "disconnected") return;
      Promise.resolve().then(() => {}).then(() => {
        told.resolve(record.isClosed() && other.isClosed());
      });
    });
    await b.close();
    ok(await within(5_000, told.promise));
    ok(await record.closed instanceof Error);
  });
});

meshTest(
  "B48: MeshStream that nobody serves yet is refused, and taken once somebody does",
  async () => {
    await withMeshes([{}, {}], async ([a, b]) => {
      await a.connect(b.peerId, b.addresses(), AbortSignal.timeout(5_000));
      const stream = await a.openStream(b.peerId, "sync", AbortSignal.timeout(5_000));
      ok(await within(5_000, recordStream(stream).closed) instanceof Error);
      equal(b.counters().streams_refused, 1);
      // As while a node is built: who came before is there for those who listen from now on.
      equal(b.connectedPeers()[0].peer, a.peerId);
      const { promise, resolve } = Promise.withResolvers<string>();
      b.handle("sync", resolve);
      await a.openStream(b.peerId, "sync", AbortSignal.timeout(5_000));
      equal(await within(5_000, promise), a.peerId);
    });
  },
);

meshTest("Mesh.openStream fails without a connection", async () => {
  await withMeshes([{}, {}], async ([a, b]) => {
    const signal = AbortSignal.timeout(5_000);
    await rejects(a.openStream(b.peerId, "exchange", signal), { code: "peer_unreachable" });
  });
});
