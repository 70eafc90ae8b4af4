// What must every connection to an engine do?
import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { concatBytes } from "../../lib/base/concat_bytes.ts";
import type { EngineSocket } from "../../lib/engine/engine_socket.ts";
import { eventually } from "../support/eventually.ts";
import { within } from "../support/within.ts";

/** Connects to a listener on loopback. */
export type ConnectTo = (port: number) => Promise<EngineSocket>;

const bytesOf = (text: string) => new TextEncoder().encode(text);

/** Both ends of a connection: the socket and the engine's side. */
async function pairOf(connectTo: ConnectTo) {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const [socket, engine] = await Promise.all([connectTo(listener.addr.port), listener.accept()]);
  listener.close();
  const chunks: Uint8Array[] = [];
  const ended = Promise.withResolvers<Error | undefined>();
  const hear = {
    bytes: (chunk: Uint8Array) => void chunks.push(chunk.slice()),
    ended: (error: Error | undefined) => ended.resolve(error),
  };
  return { socket, engine, chunks, ended: ended.promise, hear };
}

async function writeWhole(connection: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await connection.write(bytes.subarray(at));
}

/** Registers the suite for one adapter. */
export function testEngineSocket(name: string, connectTo: ConnectTo): void {
  Deno.test(`${name} carries bytes both ways, whole and in order`, async () => {
    const { socket, engine, chunks, hear } = await pairOf(connectTo);
    socket.bind(hear);
    const sent = Uint8Array.from({ length: 1_000_000 }, (_, i) => i * 31 & 255);
    const written = socket.write(sent);
    const read = new Uint8Array(sent.length);
    for (let at = 0; at < read.length;) at += (await engine.read(read.subarray(at)))!;
    await written;
    deepEqual(read, sent);
    await writeWhole(engine, sent);
    await eventually(() => chunks.reduce((sum, { length }) => sum + length, 0) === sent.length);
    deepEqual(concatBytes(chunks), sent);
    socket.close();
    equal(await engine.read(new Uint8Array(1)), null);
    engine.close();
  });

  Deno.test(`${name} says that the engine closed, after its last bytes`, async () => {
    const { socket, engine, chunks, ended, hear } = await pairOf(connectTo);
    socket.bind(hear);
    await writeWhole(engine, bytesOf("last words"));
    engine.close();
    equal(await within(2_000, ended), undefined);
    deepEqual(concatBytes(chunks), bytesOf("last words"));
    socket.close();
  });

  Deno.test(`${name} that is paused holds its engine back, and goes on`, async () => {
    const { socket, engine, chunks, hear } = await pairOf(connectTo);
    const total = () => chunks.reduce((sum, { length }) => sum + length, 0);
    socket.bind({
      ...hear,
      bytes(chunk) {
        hear.bytes(chunk);
        socket.pause();
      },
    });
    const piece = new Uint8Array(1_000_000);
    let givenBytes = 0;
    const writing = (async () => {
      for (; givenBytes < 32_000_000; givenBytes += piece.length) await writeWhole(engine, piece);
    })();
    let before = -1;
    await eventually(() => {
      const isStuck = total() > 0 && givenBytes === before;
      before = givenBytes;
      return isStuck;
    });
    ok(givenBytes < 32_000_000, "all of it was taken");
    ok(total() < 200_000, `${total()} bytes were read`);
    const pump = setInterval(() => socket.resume(), 0);
    await writing;
    await eventually(() => total() === 32_000_000);
    clearInterval(pump);
    socket.close();
    engine.close();
  });

  Deno.test(`${name} that was closed tells nobody, and writes no more`, async () => {
    const { socket, engine, chunks, hear } = await pairOf(connectTo);
    socket.bind({ ...hear, ended: () => ok(false, "it was told") });
    socket.close();
    socket.close();
    await rejects(socket.write(bytesOf("late")));
    equal(await engine.read(new Uint8Array(1)), null);
    await engine.write(bytesOf("to nobody")).catch(() => {});
    engine.close();
    deepEqual(chunks, []);
  });

  Deno.test(`${name} is refused where nobody listens`, async () => {
    const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const { port } = listener.addr;
    listener.close();
    await rejects(connectTo(port));
  });
}
