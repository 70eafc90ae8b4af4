// Does what a node does all the time leave something behind on signals that live as long as the node?
import { equal, ok, rejects } from "node:assert/strict";
import { type Handler, parsePeerId } from "../../mod.ts";
import { AbortListeners } from "../support/abort_listeners.ts";
import { recordStream } from "../support/byte_stream_record.ts";
import { connected, nextEvent } from "../support/mesh_events.ts";
import { meshTest, withMeshes } from "../support/mesh_fixture.ts";
import { Pair } from "../support/toolkit_mesh.ts";

const rounds = 100;
/** What runs at the same moment holds some listeners rightly: far fewer than one a round. */
const atOnceMax = rounds / 4;

function assertNoPile(listeners: AbortListeners): void {
  const { count, lastAddedBy } = listeners.largestPile();
  ok(
    count <= atOnceMax,
    `one signal has ${count} listeners after ${rounds} rounds, ${lastAddedBy}`,
  );
}

/** A word, or one that is followed by nothing until the caller goes away. */
const greet: Handler = ({ url }) => {
  const start = (controller: ReadableStreamDefaultController<Uint8Array>) =>
    controller.enqueue(new TextEncoder().encode("hello"));
  return new Response(url.endsWith("/stream") ? new ReadableStream({ start }) : "hello");
};

/** A TCP address at which nobody listens. */
function deafAddress(): string {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return `/ip4/127.0.0.1/tcp/${listener.addr.port}`;
}

meshTest("C054: dials, failed dials, redials and probes leave no listener behind", async () => {
  using listeners = new AbortListeners();
  await withMeshes([{}, {}], async ([a, b]) => {
    const lasting = new AbortController();
    b.handle("probe", (_, stream) => {
      recordStream(stream);
      stream.send(Uint8Array.of(1));
    });
    await a.connect(b.peerId, b.addresses(), lasting.signal);
    const stranger = parsePeerId("12D3KooWGRUPcSGwbkBbHGfbuoCgbZ1L8fLBmVBPGkSmtXPs9fgX");
    const nobody = deafAddress();
    for (let round = 0; round < rounds; round++) {
      const probe = await a.openStream(b.peerId, "probe", lasting.signal);
      await recordStream(probe).hasBytes(1);
      probe.abort(new Error("the probe was answered"));
      await rejects(a.connect(stranger, [nobody], lasting.signal), { code: "peer_unreachable" });
      // Whoever loses a connection dials again by itself, once; and this call shares that dial.
      await connected(b, a);
      const lost = nextEvent(a, ({ type }) => type === "disconnected");
      // A dial of the round before may arrive only now; then the connection that ends is not the last.
      let isOver = false;
      const over = () => void (isOver = true);
      lost.then(over, over);
      while (!isOver) {
        await b.disconnect(a.peerId);
        await new Promise((resolve) => setImmediate(resolve));
      }
      await lost;
      const connect = () => a.connect(b.peerId, b.addresses(), lasting.signal);
      await connect().catch(connect);
    }
    assertNoPile(listeners);
  });
});

Deno.test("C054: requests, offers and watches leave no listener behind", async () => {
  using listeners = new AbortListeners();
  await using pair = await Pair.start({ name: "greet", handler: greet });
  const lasting = new AbortController();
  const { caller } = pair;
  const asked = { fallback: "all" as const, signal: lasting.signal };
  for (let round = 0; round < rounds; round++) {
    equal(await (await caller.fetch("service:greet/", asked)).text(), "hello");
    const { body } = await caller.fetch("service:greet/stream", asked);
    await body!.cancel();
    const leaving = new AbortController();
    const options = { ...asked, signal: leaving.signal };
    const { body: left } = await caller.fetch("service:greet/stream", options);
    leaving.abort();
    await rejects(left!.getReader().read());
    await rejects(caller.fetch("service:none/", asked), { code: "no_such_service" });
    await (await fetch(`${caller.http}/v1/service/greet/`, {
      headers: { "x-otela-fallback": "2" },
    })).text();
    for await (const _ of caller.watch({ signal: lasting.signal })) break;
    await using offer = await caller.offer({ name: "own", handler: greet });
    await offer.ready({ signal: lasting.signal });
  }
  assertNoPile(listeners);
});
