// Does yamux give credit for half windows, and always in time?
import { equal, ok } from "node:assert/strict";
import type { Stream } from "@libp2p/interface";
import { multiaddr } from "@multiformats/multiaddr";
import { createHost, type Host } from "../../lib/mesh/host.ts";
import { streamWindowInitial } from "../../lib/mesh/host_limits.ts";
import { meshProtocols } from "../../lib/mesh/mesh_protocols.ts";
import { noiseCrypto } from "../../lib/mesh/noise_crypto.ts";
import { until } from "../support/mesh_events.ts";
import { meshOptions, meshTest } from "../support/mesh_fixture.ts";
import { within } from "../support/within.ts";

async function newHost(): Promise<Host> {
  const { privateKeyProtobuf, listen, role } = meshOptions();
  return await createHost({
    privateKeyProtobuf,
    role,
    listen,
    protocols: meshProtocols("test"),
    crypto: await noiseCrypto(),
    connectionsMax: 100,
    gate: { isAdmitted: () => true, settled: () => Promise.resolve() },
    isDenied: () => false,
  });
}

meshTest("thriftyYamux is silent on small messages and never lets a sender starve", async () => {
  const [a, b] = [await newHost(), await newHost()];
  try {
    await a.libp2p.start();
    await b.libp2p.start();
    const accepted = Promise.withResolvers<Stream>();
    await b.libp2p.handle("/test/1", (stream) => accepted.resolve(stream));
    const address = multiaddr(b.libp2p.getMultiaddrs()[0].toString());
    const connection = await a.dial(address, AbortSignal.timeout(5_000));
    const near = await connection.newStream("/test/1");
    const far = await within(5_000, accepted.promise);
    let received = 0;
    far.addEventListener("message", ({ data }) => received += data.byteLength);
    near.send(new Uint8Array(1_000));
    await until(() => received === 1_000);
    const windows = far as unknown as { recvWindowCapacity: number; recvWindow: number };
    ok(windows.recvWindow >= streamWindowInitial);
    ok(windows.recvWindowCapacity <= windows.recvWindow - 1_000, "it answered a small message");
    const total = 8 * streamWindowInitial;
    let sent = 1_000;
    while (sent < total) {
      sent += 100_000;
      if (near.send(new Uint8Array(100_000))) continue;
      await within(
        5_000,
        new Promise((resolve) => near.addEventListener("drain", resolve, { once: true })),
      );
    }
    await until(() => received === sent);
    equal(near.writeBufferLength, 0);
  } finally {
    await Promise.all([a.libp2p.stop(), b.libp2p.stop()]);
  }
});
