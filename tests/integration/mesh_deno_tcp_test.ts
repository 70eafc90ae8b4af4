// Is our TCP transport one that libp2p can rely on?
import { Buffer } from "node:buffer";
import { equal, ok } from "node:assert/strict";
import { multiaddr } from "@multiformats/multiaddr";
import { ByteSlab } from "../../lib/base/byte_slab.ts";
import { DenoTcp } from "../../lib/mesh/deno_tcp.ts";
import { DenoTcpConnection, type Socket } from "../../lib/mesh/deno_tcp_connection.ts";
import { silentLibp2pLog } from "../../lib/mesh/silent_libp2p_log.ts";
import { WriteBuffers } from "../../lib/mesh/write_buffers.ts";
import { testTransport } from "../contract/transport.ts";
import { openBlackHole } from "../support/black_hole.ts";
import { seededRandom } from "../../lib/sim/seeded_random.ts";

const id = "12D3KooWMJzrgzc56zUxZGVrny7FfiL4WQXTVpek3eodPqWWysAt";
const dialable = [
  "/ip4/1.2.3.4/tcp/1",
  `/ip4/1.2.3.4/tcp/1/p2p/${id}`,
  "/ip6/::1/tcp/1",
  "/dns4/example.org/tcp/1",
  "/dns6/example.org/tcp/1",
  "/dns/example.org/tcp/1",
].map((address) => multiaddr(address));
const notDialable = [
  "/ip4/1.2.3.4/udp/1/quic-v1",
  "/ip4/1.2.3.4/tcp/1/ws",
  "/dnsaddr/example.org",
  `/ip4/1.2.3.4/tcp/1/p2p/${id}/p2p-circuit/p2p/${id}`,
].map((address) => multiaddr(address));

for (const [family, host] of [["ip4", "127.0.0.1"], ["ip6", "::1"]] as const) {
  if (family === "ip6" && !hasIp6()) continue;
  testTransport(`DenoTcp on ${host}`, async () => {
    const hole = await openBlackHole(host);
    return {
      transport: new DenoTcp({ logger: silentLibp2pLog() }),
      listenAddress: multiaddr(`/${family}/${host}/tcp/0`),
      deadAddress: multiaddr(`/${family}/${host}/tcp/1`),
      blackHole: multiaddr(`/${family}/${host}/tcp/${hole.port}`),
      dialable,
      notDialable,
      close: () => hole.close(),
    };
  });
}

Deno.test("DenoTcp on :: serves IPv4 as well and tells both", async () => {
  if (!hasIp6()) return;
  const transport = new DenoTcp({ logger: silentLibp2pLog() });
  const listener = transport.createListener({ upgrader: undefined as never });
  await listener.listen(multiaddr("/ip6/::/tcp/0"));
  const addresses = listener.getAddrs().map((address) => address.toString());
  ok(addresses.some((address) => address.startsWith("/ip4/127.0.0.1/")), addresses.join());
  ok(addresses.some((address) => address.startsWith("/ip6/::1/")), addresses.join());
  equal(new Set(addresses.map((address) => address.split("/").at(-1))).size, 1);
  await listener.close();
});

Deno.test("DenoTcpConnection keeps bytes whole when the socket cuts writes at random", async () => {
  const random = seededRandom(54);
  const written: Uint8Array[] = [];
  let writes = 0;
  const socket: Socket = {
    setNoDelay: () => {},
    close: () => {},
    read: () => new Promise(() => {}),
    write: (bytes) => {
      writes++;
      const count = Math.max(1, Math.floor(random() * bytes.byteLength));
      written.push(bytes.slice(0, count));
      return Promise.resolve(count);
    },
  };
  const connection = plainConnection(socket);
  const sent: Uint8Array[] = [];
  for (let i = 0; i < 300; i++) {
    const piece = Uint8Array.from({ length: 1 + random() * 3_000 }, () => random() * 256);
    sent.push(piece.slice());
    connection.send(piece);
    if (random() < 0.1) await new Promise((resolve) => setTimeout(resolve, 0));
  }
  const large = new Uint8Array(300_000).fill(3);
  sent.push(large);
  connection.send(large);
  await connection.close();
  ok(Buffer.concat(written).equals(Buffer.concat(sent)));
  ok(writes > 10);
});

Deno.test("DenoTcpConnection sends everything of one turn in one write", async () => {
  const sizes: number[] = [];
  const socket: Socket = {
    setNoDelay: () => {},
    close: () => {},
    read: () => new Promise(() => {}),
    write: (bytes) => {
      sizes.push(bytes.byteLength);
      return Promise.resolve(bytes.byteLength);
    },
  };
  const connection = plainConnection(socket);
  for (let i = 0; i < 50; i++) connection.send(new Uint8Array(100));
  await connection.close();
  equal(sizes.join(), "5000");
});

function plainConnection(socket: Socket): DenoTcpConnection {
  return new DenoTcpConnection({
    socket,
    writeBuffers: new WriteBuffers(),
    readSlab: new ByteSlab(),
    direction: "outbound",
    remoteAddr: multiaddr("/ip4/127.0.0.1/tcp/1"),
    log: silentLibp2pLog().forComponent("test"),
  });
}

function hasIp6(): boolean {
  return Deno.networkInterfaces().some(({ address }) => address === "::1");
}
