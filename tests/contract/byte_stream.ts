// What may a lane rely on, whichever adapter of ByteStream it was given?
import { deepEqual, equal, ok } from "node:assert/strict";
import { Buffer } from "node:buffer";
import type { ByteStream } from "../../lib/base/byte_stream.ts";
import { KiB, MiB } from "../../lib/base/units.ts";
import { recordStream } from "../support/byte_stream_record.ts";
import { seededRandom } from "../../lib/sim/seeded_random.ts";
import { within } from "../support/within.ts";

/** Two connected ends of one adapter, and a way to kill what connects them. */
export type ByteStreamFixture = {
  readonly a: ByteStream;
  readonly b: ByteStream;
  cut(): void;
  close(): Promise<void> | void;
};

/** Registers, with `register`, the tests that every adapter of `ByteStream` passes. */
export function testByteStream(
  name: string,
  open: () => Promise<ByteStreamFixture>,
  register: (name: string, fn: () => Promise<void>) => void = Deno.test,
): void {
  const test = (what: string, body: (fixture: ByteStreamFixture) => Promise<void>) =>
    register(`${name} as ByteStream: ${what}`, async () => {
      const fixture = await open();
      try {
        await body(fixture);
      } finally {
        await fixture.close();
      }
    });

  test("send delivers bytes in order, in both directions", async ({ a, b }) => {
    const [left, right] = [recordStream(a), recordStream(b)];
    for (let i = 0; i < 100; i++) {
      a.send(Uint8Array.of(i, 1));
      b.send(Uint8Array.of(i, 2));
    }
    await within(5_000, Promise.all([right.hasBytes(200), left.hasBytes(200)]));
    deepEqual([...right.bytes()].filter((_, i) => i % 2 === 0), [...Array(100).keys()]);
    ok(left.bytes().every((byte, i) => i % 2 === 0 || byte === 2));
  });

  test("send keeps bytes whole when writes are cut at random", async ({ a, b }) => {
    const random = seededRandom(20_261);
    const whole = Uint8Array.from({ length: MiB }, (_, i) => (i * 31 + (i >> 8)) & 255);
    recordStream(a);
    const right = recordStream(b);
    for (let offset = 0; offset < whole.byteLength;) {
      const length = random() < 0.5 ? 1 + random() * 40 : 1 + random() * 64 * KiB;
      a.send(whole.slice(offset, offset + length));
      offset += Math.floor(length);
    }
    await within(5_000, right.hasBytes(whole.byteLength));
    ok(Buffer.compare(right.bytes(), whole) === 0);
  });

  test("bind gives what arrived before it", async ({ a, b }) => {
    recordStream(a);
    a.send(Uint8Array.of(1, 2, 3));
    await new Promise((resolve) => setTimeout(resolve, 0));
    const right = recordStream(b);
    await within(5_000, right.hasBytes(3));
    deepEqual([...right.bytes()], [1, 2, 3]);
  });

  test("handlers never run inside a call of their owner", async ({ a, b }) => {
    let isCalling = true;
    const right = recordStream(b);
    const left = recordStream(a, () => equal(isCalling, false));
    a.send(Uint8Array.of(1));
    isCalling = false;
    await within(5_000, right.hasBytes(1));
    isCalling = true;
    a.abort(new Error("enough"));
    isCalling = false;
    await within(5_000, left.closed);
  });

  test("send answers false when too much is unsent, and drained follows", async ({ a, b }) => {
    const [left, right] = [recordStream(a), recordStream(b)];
    let sent = 0;
    while (a.send(new Uint8Array(64 * KiB))) {
      sent += 64 * KiB;
      ok(sent < 64 * MiB, "the bound on unsent bytes never shows");
    }
    sent += 64 * KiB;
    equal(left.drainedCount(), 0);
    await within(10_000, left.drained());
    await within(10_000, right.hasBytes(sent));
    equal(left.drainedCount(), 1);
    ok(a.unsentBytes < sent / 2);
  });

  test("close lets the other side go on; both are over once it closes too", async ({ a, b }) => {
    const [left, right] = [recordStream(a), recordStream(b)];
    a.send(Uint8Array.of(1));
    a.close();
    await within(5_000, right.hasBytes(1));
    b.send(Uint8Array.of(2, 3));
    await within(5_000, left.hasBytes(2));
    equal(left.isClosed() || right.isClosed(), false);
    b.close();
    equal(await within(5_000, left.closed), undefined);
    equal(await within(5_000, right.closed), undefined);
  });

  test("close delivers everything that was sent before it", async ({ a, b }) => {
    const [left, right] = [recordStream(a), recordStream(b)];
    for (let i = 0; i < 64; i++) a.send(new Uint8Array(64 * KiB));
    a.close();
    b.close();
    equal(await within(10_000, right.closed), undefined);
    equal(right.bytes().byteLength, 4 * MiB);
    equal(await within(5_000, left.closed), undefined);
  });

  test("send after the end is dropped and answers false", async ({ a, b }) => {
    const [left, right] = [recordStream(a), recordStream(b)];
    a.close();
    equal(a.send(Uint8Array.of(1)), false);
    b.close();
    await within(5_000, Promise.all([left.closed, right.closed]));
    equal(a.send(Uint8Array.of(1)), false);
    equal(right.bytes().byteLength, 0);
    a.close();
    a.abort(new Error("too late"));
    equal(left.closedCount(), 1);
  });

  test("abort ends both sides, the own one with its reason", async ({ a, b }) => {
    const [left, right] = [recordStream(a), recordStream(b)];
    const reason = new Error("enough");
    a.send(new Uint8Array(256 * KiB));
    a.abort(reason);
    a.abort(new Error("again"));
    equal(await within(5_000, left.closed), reason);
    ok(await within(5_000, right.closed) instanceof Error);
    equal(left.closedCount(), 1);
  });

  test("a dead connection closes both ends with an error", async ({ a, b, cut }) => {
    const [left, right] = [recordStream(a), recordStream(b)];
    a.send(Uint8Array.of(1));
    await within(5_000, right.hasBytes(1));
    cut();
    ok(await within(5_000, left.closed) instanceof Error);
    ok(await within(5_000, right.closed) instanceof Error);
  });

  test("abort inside data stops the data", async ({ a, b }) => {
    const left = recordStream(a);
    let pieces = 0;
    const { promise, resolve } = Promise.withResolvers<Error | undefined>();
    b.bind({
      data: () => {
        pieces++;
        b.abort(new Error("first piece was enough"));
      },
      drained: () => {},
      closed: resolve,
    });
    for (let i = 0; i < 100; i++) a.send(new Uint8Array(32 * KiB));
    ok(await within(5_000, promise) instanceof Error);
    ok(await within(5_000, left.closed) instanceof Error);
    equal(pieces, 1);
  });
}
