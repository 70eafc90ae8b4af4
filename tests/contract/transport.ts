// What does libp2p rely on in a transport? The points of js-libp2p's transport compliance suite, in our own words.
import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import type {
  Connection,
  MultiaddrConnection,
  StreamMessageEvent,
  Transport,
  Upgrader,
} from "@libp2p/interface";
import { type Multiaddr, multiaddr } from "@multiformats/multiaddr";
import { within } from "../support/within.ts";

export type TransportFixture = {
  readonly transport: Transport;
  /** One to listen on, port 0. */
  readonly listenAddress: Multiaddr;
  /** Nobody listens there. */
  readonly deadAddress: Multiaddr;
  /** Never answers and refuses nothing. */
  readonly blackHole: Multiaddr;
  readonly dialable: readonly Multiaddr[];
  readonly notDialable: readonly Multiaddr[];
  close(): void;
};

/** Stands in for libp2p's upgrader (port): hands the raw connections over, or refuses them. */
class PlainUpgrader {
  readonly inbound: MultiaddrConnection[] = [];
  refuses = false;
  #waiting: (() => void)[] = [];

  upgradeInbound(connection: MultiaddrConnection): Promise<void> {
    if (this.refuses) return Promise.reject(new Error("The upgrade was refused"));
    this.inbound.push(connection);
    for (const resolve of this.#waiting.splice(0)) resolve();
    return Promise.resolve();
  }

  upgradeOutbound(connection: MultiaddrConnection): Promise<Connection> {
    if (this.refuses) return Promise.reject(new Error("The upgrade was refused"));
    return Promise.resolve(connection as unknown as Connection);
  }

  /** The n-th inbound connection. */
  async accepted(index = 0): Promise<MultiaddrConnection> {
    while (this.inbound.length <= index) {
      await within(5_000, new Promise<void>((resolve) => this.#waiting.push(resolve)));
    }
    return this.inbound[index];
  }
}

/** Registers the tests that every transport passes. */
export function testTransport(name: string, open: () => Promise<TransportFixture>): void {
  const test = (
    what: string,
    body: (fixture: TransportFixture, tools: Tools) => Promise<void>,
  ) =>
    Deno.test(`${name} as Transport: ${what}`, async () => {
      const fixture = await open();
      const upgrader = new PlainUpgrader();
      const port = upgrader as unknown as Upgrader;
      const listener = fixture.transport.createListener({ upgrader: port });
      const dial = async (address: Multiaddr, signal = AbortSignal.timeout(5_000)) =>
        await fixture.transport.dial(address, {
          signal,
          upgrader: port,
        }) as unknown as MultiaddrConnection;
      try {
        await body(fixture, { upgrader, listener, dial });
      } finally {
        for (const connection of upgrader.inbound) connection.abort(new Error("The test is over"));
        await listener.close();
        fixture.close();
      }
    });

  test("a dialled connection carries bytes both ways", async (fixture, tools) => {
    const { near, far } = await connect(fixture, tools);
    far.addEventListener("message", ({ data }) => far.send(data.subarray().slice()));
    const answer = nextMessage(near);
    near.send(Uint8Array.of(1, 2, 3));
    deepEqual([...await within(5_000, answer)], [1, 2, 3]);
    near.abort(new Error("done"));
  });

  test("what was sent before close arrives", async (fixture, tools) => {
    const { near, far } = await connect(fixture, tools);
    let received = 0;
    far.addEventListener("message", ({ data }) => received += data.byteLength);
    const ended = closed(far);
    for (let i = 0; i < 100; i++) near.send(new Uint8Array(10_000));
    await near.close();
    await within(5_000, ended);
    equal(received, 1_000_000);
    equal(near.status, "closed");
  });

  test("the other side learns of a close", async (fixture, tools) => {
    const { near, far } = await connect(fixture, tools);
    const ended = closed(near);
    await far.close();
    equal((await within(5_000, ended)).error, undefined);
    equal(near.status, "closed");
  });

  test("abort ends both sides, the own one with its reason", async (fixture, tools) => {
    const { near, far } = await connect(fixture, tools);
    const ended = closed(far);
    const reason = new Error("enough");
    const own = closed(near);
    near.abort(reason);
    equal((await within(5_000, own)).error, reason);
    await within(5_000, ended);
    ok(far.status !== "open");
  });

  test("send asks to wait when much is queued, and drain follows", async (fixture, tools) => {
    const { near, far } = await connect(fixture, tools);
    let received = 0;
    far.addEventListener("message", ({ data }) => received += data.byteLength);
    let sent = 0;
    do sent += 65_536; while (near.send(new Uint8Array(65_536)) && sent < 1 << 26);
    ok(sent < 1 << 26, "it never asked to wait");
    await within(5_000, drained(near));
    const ended = closed(far);
    await near.close();
    await within(5_000, ended);
    equal(received, sent);
  });

  test("a paused connection holds the sender back and loses nothing", async (fixture, tools) => {
    const { near, far } = await connect(fixture, tools);
    let received = 0;
    far.addEventListener("message", ({ data }) => received += data.byteLength);
    far.pause();
    let sent = 0;
    // More than any kernel buffers on both sides.
    while (sent < 1 << 26) {
      sent += 65_536;
      if (near.send(new Uint8Array(65_536))) continue;
      // Not onDrain(): in libp2p 3.3 its promise stays resolved after the first time.
      if (!await within(200, drained(near)).then(() => true, () => false)) break;
    }
    ok(sent < 1 << 26, "a paused reader does not hold its sender back");
    ok(received < 1 << 17);
    far.resume();
    const ended = closed(far);
    await near.close({ signal: AbortSignal.timeout(5_000) });
    await within(5_000, ended);
    equal(received, sent);
  });

  test("dial fails where nobody listens", async ({ deadAddress }, { dial }) => {
    await rejects(dial(deadAddress));
  });

  test("dial with an aborted signal fails at once", async ({ deadAddress }, { dial }) => {
    const reason = new Error("given up before");
    await rejects(dial(deadAddress, AbortSignal.abort(reason)), reason);
  });

  test("dial ends when its signal aborts", async ({ blackHole }, { dial }) => {
    const reason = new Error("given up");
    const giveUp = new AbortController();
    const dialled = dial(blackHole, giveUp.signal);
    setTimeout(() => giveUp.abort(reason), 20);
    await within(1_000, rejects(dialled, reason));
  });

  test(
    "a signal that aborts after the dial leaves the connection alone",
    async (fixture, tools) => {
      await tools.listener.listen(fixture.listenAddress);
      const late = new AbortController();
      const near = await tools.dial(tools.listener.getAddrs()[0], late.signal);
      const far = await tools.upgrader.accepted();
      late.abort();
      const arrived = nextMessage(far);
      near.send(Uint8Array.of(9));
      deepEqual([...await within(5_000, arrived)], [9]);
      near.abort(new Error("done"));
    },
  );

  test("a failed outbound upgrade closes the socket", async (fixture, { upgrader, ...tools }) => {
    await tools.listener.listen(fixture.listenAddress);
    const far = upgrader.accepted();
    const port = { upgradeOutbound: () => Promise.reject(new Error("no upgrade")) };
    const options = { signal: AbortSignal.timeout(5_000), upgrader: port as unknown as Upgrader };
    await rejects(fixture.transport.dial(tools.listener.getAddrs()[0], options), /no upgrade/);
    const connection = await far;
    if (connection.status === "open") await within(5_000, closed(connection));
  });

  test("a failed inbound upgrade closes the socket, others go on", async (fixture, tools) => {
    await tools.listener.listen(fixture.listenAddress);
    const [address] = tools.listener.getAddrs();
    tools.upgrader.refuses = true;
    const plain = { upgradeOutbound: (connection: unknown) => Promise.resolve(connection) };
    const options = { signal: AbortSignal.timeout(5_000), upgrader: plain as unknown as Upgrader };
    const refused = await fixture.transport.dial(
      address,
      options,
    ) as unknown as MultiaddrConnection;
    await within(5_000, closed(refused));
    tools.upgrader.refuses = false;
    const near = await tools.dial(address);
    await tools.upgrader.accepted();
    near.abort(new Error("done"));
  });

  test(
    "a listener tells its addresses, without a PeerId, once it listens",
    async (fixture, tools) => {
      const { listener } = tools;
      deepEqual(listener.getAddrs(), []);
      const listening = new Promise((resolve) => listener.addEventListener("listening", resolve));
      await listener.listen(fixture.listenAddress);
      await within(1_000, listening);
      ok(listener.getAddrs().length > 0);
      for (const address of listener.getAddrs()) {
        ok(!/\/tcp\/0\b|\/p2p\//.test(address.toString()), address.toString());
      }
    },
  );

  test("listening on a busy address fails", async (fixture, { listener }) => {
    await listener.listen(fixture.listenAddress);
    const upgrader = new PlainUpgrader() as unknown as Upgrader;
    const second = fixture.transport.createListener({ upgrader });
    await rejects(second.listen(listener.getAddrs()[0]));
    await second.close();
  });

  test(
    "closing a listener closes its connections and frees the address",
    async (fixture, tools) => {
      const { near } = await connect(fixture, tools);
      const { listener } = tools;
      const [address] = listener.getAddrs();
      const ended = closed(near);
      const told = new Promise((resolve) => listener.addEventListener("close", resolve));
      await listener.close();
      await within(5_000, Promise.all([ended, told]));
      await rejects(tools.dial(address));
      deepEqual(listener.getAddrs(), []);
    },
  );

  test("the filters keep what it can dial and nothing else", (fixture) => {
    const { transport, dialable, notDialable } = fixture;
    const kept = (list: Multiaddr[]) => list.map((address) => address.toString());
    const all = [...dialable, ...notDialable];
    deepEqual(kept(transport.dialFilter(all)), kept([...dialable]));
    deepEqual(kept(transport.listenFilter(all)), kept([...dialable]));
    return Promise.resolve();
  });
}

type Tools = {
  readonly upgrader: PlainUpgrader;
  readonly listener: ReturnType<Transport["createListener"]>;
  dial(address: Multiaddr, signal?: AbortSignal): Promise<MultiaddrConnection>;
};

async function connect({ listenAddress }: TransportFixture, { listener, dial, upgrader }: Tools) {
  await listener.listen(listenAddress);
  const near = await dial(multiaddr(listener.getAddrs()[0].toString()));
  return { near, far: await upgrader.accepted() };
}

function drained(connection: MultiaddrConnection): Promise<unknown> {
  return new Promise((resolve) => connection.addEventListener("drain", resolve, { once: true }));
}

function closed(connection: MultiaddrConnection): Promise<{ error?: Error }> {
  return new Promise((resolve) => connection.addEventListener("close", resolve, { once: true }));
}

function nextMessage(connection: MultiaddrConnection): Promise<Uint8Array> {
  return new Promise((resolve) => {
    const take = ({ data }: StreamMessageEvent) => resolve(data.subarray());
    connection.addEventListener("message", take, { once: true });
  });
}
