// Who may join, and who learns why not?
import { equal, ok, rejects } from "node:assert/strict";
import type { Mesh } from "../../lib/mesh/types.ts";
import { connected, nextEvent, until } from "../support/mesh_events.ts";
import { meshOptions, meshTest, newPrivateKey, withMeshes } from "../support/mesh_fixture.ts";
import { within } from "../support/within.ts";

function dial(a: Mesh, b: Mesh): Promise<void> {
  return a.connect(b.peerId, b.addresses(), AbortSignal.timeout(5_000));
}

meshTest("Mesh admits a peer with the same secret, on both sides", async () => {
  const secret = "s".repeat(32);
  await withMeshes([{ secret }, { secret }], async ([a, b]) => {
    const other = connected(b, a);
    await dial(a, b);
    await other;
    ok(a.isConnected(b.peerId) && b.isConnected(a.peerId));
    equal(b.connectedPeers()[0].direction, "inbound");
    equal(a.connectedPeers()[0].direction, "outbound");
    equal(a.connectedPeers()[0].isRelayed, false);
    equal(a.counters().admitted, 1);
  });
});

const strangers: readonly [string, string | undefined, string | undefined][] = [
  ["a wrong secret", "one", "another"],
  ["no secret at a closed mesh", undefined, "another"],
  ["a secret at an open mesh", "one", undefined],
];
for (const [what, one, other] of strangers) {
  meshTest(`Mesh refuses ${what}, on both sides, and closes the connection`, async () => {
    await withMeshes([{ secret: one }, { secret: other }], async ([a, b]) => {
      const events: string[] = [];
      for (const mesh of [a, b]) mesh.subscribe(({ type }) => events.push(type));
      await rejects(dial(a, b), { code: "forbidden" });
      await until(() => b.counters().refused_wrong_secret === 1);
      equal(events.filter((type) => type === "connected").length, 0);
      equal(a.connectedPeers().length + b.connectedPeers().length, 0);
      equal(a.counters().refused_by_peer, 1);
    });
  });
}

meshTest("Mesh refuses a node of another network, and says that it is one", async () => {
  await withMeshes([{ network: "here" }, { network: "there" }], async ([a, b]) => {
    await rejects(dial(a, b), { code: "forbidden", fields: { reason: "refused_other_network" } });
    equal(a.counters().refused_other_network, 1);
    equal(b.connectedPeers().length, 0);
  });
});

meshTest("Mesh keeps denied peers out, whoever dials", async () => {
  const key = newPrivateKey();
  await withMeshes([{ privateKeyProtobuf: key }, {}], async ([bad, neutral]) => {
    await withMeshes([{ deny: [bad.peerId] }], async ([strict]) => {
      await rejects(dial(strict, bad));
      await rejects(dial(bad, strict));
      await dial(neutral, strict);
      equal(strict.isConnected(bad.peerId), false);
      ok(strict.counters().refused_denied >= 1);
    });
  });
});

meshTest("Mesh ignores a dial to itself", async () => {
  await withMeshes([{}], async ([a]) => {
    await rejects(dial(a, a));
    equal(a.connectedPeers().length, 0);
  });
});

meshTest("Mesh closes a connection that shows no tag in time", async () => {
  // A libp2p node that speaks no protocol of ours: another network's name does that, but as the dialled side it
  // is never asked, so here it dials and is silent.
  const { createHost } = await import("../../lib/mesh/host.ts");
  const { meshProtocols } = await import("../../lib/mesh/mesh_protocols.ts");
  const { noiseCrypto } = await import("../../lib/mesh/noise_crypto.ts");
  const { multiaddr } = await import("@multiformats/multiaddr");
  const { privateKeyProtobuf, role } = meshOptions();
  const silent = await createHost({
    privateKeyProtobuf,
    role,
    protocols: meshProtocols("silent"),
    crypto: await noiseCrypto(),
    listen: [],
    connectionsMax: 10,
    gate: { isAdmitted: () => false, settled: () => Promise.reject(new Error("never")) },
    isDenied: () => false,
  });
  await silent.libp2p.start();
  try {
    await withMeshes([{ secret: "x".repeat(32) }], async ([mesh]) => {
      const accepted: string[] = [];
      mesh.handle("exchange", (peer) => accepted.push(peer));
      const connection = await silent.dial(
        multiaddr(mesh.multiaddrs()[0]),
        AbortSignal.timeout(5_000),
      );
      const ended = new Promise((resolve) => connection.addEventListener("close", resolve));
      const stream = await connection.newStream("/otela/test/exchange/1");
      await until(() => stream.status !== "open");
      equal(accepted.length, 0);
      equal(mesh.connectedPeers().length, 0);
      await within(7_000, ended);
      equal(mesh.counters().refused_no_tag, 1);
      equal(mesh.counters().streams_refused, 1);
    });
  } finally {
    await silent.libp2p.stop();
  }
});

meshTest(
  "Mesh says when the last connection of a peer is gone, and whether it refuses now",
  async () => {
    await withMeshes([{}, {}], async ([a, b]) => {
      await dial(a, b);
      const gone = nextEvent(a, ({ type }) => type === "disconnected");
      const failed = nextEvent(a, ({ type }) => type === "dialFailed");
      await b.close();
      equal((await gone).peer, b.peerId);
      const event = await failed;
      ok(event.type === "dialFailed" && event.isRefused && event.peer === b.peerId);
    });
  },
);
