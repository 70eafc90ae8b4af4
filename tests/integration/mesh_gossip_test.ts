// Does gossip reach everybody, and only what was judged good?
import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import type { GossipVerdict, Mesh } from "../../lib/mesh/types.ts";
import { until } from "../support/mesh_events.ts";
import { meshTest, withMeshes } from "../support/mesh_fixture.ts";

/** Keeps what arrives; judges by the first byte. */
function record(mesh: Mesh): string[] {
  const seen: string[] = [];
  const verdicts: readonly GossipVerdict[] = ["accept", "ignore", "reject"];
  mesh.onGossip((_, bytes) => {
    seen.push(bytes.join());
    return verdicts[bytes[0]];
  });
  return seen;
}

/** Publishes new messages until `isTrue`, as the first ones may come before the neighbours know of each other. */
async function publishUntil(mesh: Mesh, isTrue: () => boolean): Promise<void> {
  let serial = 0;
  await until(() => {
    void mesh.publish(Uint8Array.of(0, 255, serial++ & 255));
    return isTrue();
  });
}

meshTest("Mesh.publish reaches nodes behind others, once, and only what they accept", async () => {
  await withMeshes([{}, {}, {}], async ([a, b, c]) => {
    const [atB, atC] = [record(b), record(c)];
    const atA = record(a);
    await a.connect(b.peerId, b.addresses(), AbortSignal.timeout(5_000));
    await b.connect(c.peerId, c.addresses(), AbortSignal.timeout(5_000));
    await publishUntil(a, () => atB.length > 0 && atC.length > 0);
    for (const message of ["0,1", "1,1", "2,1", "0,2"]) {
      await a.publish(Uint8Array.from(message.split(","), Number));
    }
    await until(() => atC.includes("0,2"));
    const own = (seen: string[]) => seen.filter((message) => message.length === 3).sort();
    deepEqual(own(atB), ["0,1", "0,2", "1,1", "2,1"]);
    deepEqual(own(atC), ["0,1", "0,2"]);
    equal(atA.length, 0);
    equal(b.counters().gossip_rejected, 1);
    equal(b.counters().gossip_ignored, 1);
    ok(c.counters().gossip_accepted >= 2);
  });
});

meshTest("Mesh.publish refuses what others would not take, and is quiet when alone", async () => {
  await withMeshes([{}], async ([a]) => {
    await rejects(a.publish(new Uint8Array(65 * 1024)), { code: "bad_request" });
    await a.publish(Uint8Array.of(0));
  });
});

meshTest(
  "C049: gossip crosses a node that twelve others of one address are connected to, at once",
  async () => {
    await withMeshes(Array.from({ length: 13 }, () => ({})), async ([hub, ...leaves]) => {
      for (const leaf of leaves) {
        await leaf.connect(hub.peerId, hub.addresses(), AbortSignal.timeout(5_000));
      }
      const [sender, ...receivers] = leaves;
      const seen = receivers.map(record);
      record(hub);
      await publishUntil(sender, () => seen.every((messages) => messages.length > 0));
      // What is not told at once is offered once a second, and takes two of these offers to get here.
      const tookMs: number[] = [];
      for (let serial = 0; serial < 9; serial++) {
        const startMs = performance.now();
        await sender.publish(Uint8Array.of(0, 254, serial));
        await until(() => seen.every((messages) => messages.includes(`0,254,${serial}`)));
        tookMs.push(performance.now() - startMs);
      }
      const medianMs = tookMs.sort((a, b) => a - b)[4];
      ok(medianMs < 500, `${medianMs} ms`);
    });
  },
);
