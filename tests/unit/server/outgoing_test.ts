// Do bytes leave in order, one write at a time, and does what waits leave together?
import { deepEqual, equal, ok } from "node:assert/strict";
import { Outgoing } from "../../../lib/server/outgoing.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const textOf = (chunk: Uint8Array) => new TextDecoder().decode(chunk);

/** A connection whose writes end when the test says so, and what its owner was told. */
function rig() {
  const writes: Uint8Array[] = [];
  const open: PromiseWithResolvers<number>[] = [];
  const told: string[] = [];
  const outgoing = new Outgoing({
    write(chunk) {
      writes.push(chunk);
      const written = Promise.withResolvers<number>();
      open.push(written);
      return written.promise;
    },
  }, { sent: () => void told.push("sent"), close: () => void told.push("close") });
  return {
    outgoing,
    writes,
    told,
    texts: () => writes.map(textOf),
    /** The system takes the write that is open, or as much of it. */
    async takes(count = writes.at(-1)!.length) {
      equal(open.length, 1, "one write is open");
      open.shift()!.resolve(count);
      await Promise.resolve();
    },
    async fails() {
      open.shift()!.reject(new Error("broken pipe"));
      await Promise.resolve();
    },
    openCount: () => open.length,
  };
}

Deno.test("Outgoing writes at once, and what comes meanwhile together and in order", async () => {
  const { outgoing, texts, takes, told, openCount } = rig();
  equal(outgoing.isEmpty, true);
  outgoing.write(bytes("a"));
  deepEqual(texts(), ["a"]);
  for (const text of ["b", "c", "d"]) outgoing.write(bytes(text));
  deepEqual(texts(), ["a"], "one write at a time");
  equal(outgoing.isEmpty, false);
  equal(outgoing.bytes, 4);
  await takes();
  deepEqual(texts(), ["a", "bcd"]);
  deepEqual(told, [], "not everything has left");
  equal(outgoing.bytes, 3);
  await takes();
  deepEqual([told, outgoing.isEmpty, outgoing.bytes, openCount()], [["sent"], true, 0, 0]);
  equal(outgoing.writes, 2);
  outgoing.write(bytes("e"));
  await takes();
  deepEqual([texts(), told], [["a", "bcd", "e"], ["sent", "sent"]]);
});

Deno.test("Outgoing writes on what the system did not take", async () => {
  const { outgoing, texts, takes, told } = rig();
  outgoing.write(bytes("abcdef"));
  outgoing.write(bytes("gh"));
  await takes(2);
  equal(outgoing.bytes, 6);
  await takes(3);
  deepEqual([texts(), told], [["abcdef", "cdef", "f"], []]);
  await takes();
  await takes();
  deepEqual([texts(), told], [["abcdef", "cdef", "f", "gh"], ["sent"]]);
  equal(outgoing.writes, 4);
});

Deno.test("Outgoing joins up to 64 KiB, and copies no piece that is longer", async () => {
  const { outgoing, writes, takes, told } = rig();
  const lengths = [1, 40_000, 25_536, 1, 70_000, 2, 3];
  const pieces = lengths.map((length, at) => new Uint8Array(length).fill(at));
  for (const piece of pieces) outgoing.write(piece);
  while (told.length === 0) await takes();
  deepEqual(writes.map(({ length }) => length), [1, 65_536, 1, 70_000, 5]);
  equal(writes[3].buffer, pieces[4].buffer, "the same bytes, not a copy");
  const whole = pieces.flatMap((piece) => [...piece]);
  ok(writes.flatMap((chunk) => [...chunk]).every((byte, at) => byte === whole[at]));
});

Deno.test("Outgoing lets leave together what is written together", async () => {
  const { outgoing, texts, takes } = rig();
  outgoing.together(() => {
    outgoing.write(bytes("a"));
    outgoing.write(bytes("b"));
    deepEqual(texts(), []);
  });
  deepEqual(texts(), ["ab"]);
  outgoing.together(() => outgoing.write(bytes("c")));
  deepEqual(texts(), ["ab"], "the first write is still open");
  await takes();
  deepEqual(texts(), ["ab", "c"]);
  await takes();
  outgoing.together(() => {});
  equal(outgoing.isEmpty, true);
});

Deno.test("Outgoing hears from its owner what comes next, in the turn in which all has left", async () => {
  const written: string[] = [];
  const ended = Promise.withResolvers<void>();
  const outgoing = new Outgoing({
    write(chunk) {
      written.push(textOf(chunk));
      return Promise.resolve(chunk.length);
    },
  }, {
    sent: () => written.length < 4 ? outgoing.write(bytes(`${written.length}`)) : ended.resolve(),
    close: () => {},
  });
  outgoing.write(bytes("0"));
  await ended.promise;
  deepEqual(written, ["0", "1", "2", "3"]);
});

Deno.test("Outgoing writes nothing more and tells nothing once it is dropped", async () => {
  for (const isBroken of [false, true]) {
    const { outgoing, texts, takes, fails, told, openCount } = rig();
    outgoing.write(bytes("a"));
    outgoing.write(bytes("b"));
    outgoing.drop();
    await (isBroken ? fails() : takes());
    outgoing.write(bytes("c"));
    deepEqual([texts(), told, openCount()], [["a"], [], 0]);
  }
});

Deno.test("Outgoing tells its owner when the connection breaks, and writes nothing after it", async () => {
  const { outgoing, texts, takes, fails, told } = rig();
  outgoing.write(bytes("ab"));
  outgoing.write(bytes("c"));
  await takes(1);
  await fails();
  deepEqual([texts(), told], [["ab", "b"], ["close"]]);
});
