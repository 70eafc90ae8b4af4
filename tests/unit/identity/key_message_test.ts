import { deepEqual, equal } from "node:assert/strict";
import fc from "fast-check";
import { encodeBase58 } from "../../../lib/identity/base58.ts";
import { decodeKeyMessage, encodeKeyMessage } from "../../../lib/identity/key_message.ts";
import { decodeLockRecord, encodeLockRecord } from "../../../lib/identity/lock_record.ts";

Deno.test("encodeBase58 writes known texts (draft-msporny-base58-03, section 5)", () => {
  const bytes = (text: string) => new TextEncoder().encode(text);
  equal(encodeBase58(bytes("Hello World!")), "2NEpo7TZRRrLZSi2U");
  equal(
    encodeBase58(bytes("The quick brown fox jumps over the lazy dog.")),
    "USm3fpXnKG5EUBx2ndxBDMPVciP5hGey2Jh4NDv6gmeo1LkMeiKrLJUUBk6Z",
  );
  equal(encodeBase58(Uint8Array.from([0, 0, 0x28, 0x7f, 0xb4, 0xcd])), "11233QC4");
  equal(encodeBase58(new Uint8Array(0)), "");
  equal(encodeBase58(new Uint8Array(3)), "111");
});

Deno.test("decodeKeyMessage reads what encodeKeyMessage wrote, for every length of data", () => {
  const messages = fc.record({
    type: fc.constantFrom("rsa" as const, "ed25519" as const),
    data: fc.uint8Array({ minLength: 0, maxLength: 600 }).map((data) => new Uint8Array(data)),
  });
  fc.assert(fc.property(messages, (message) => {
    deepEqual(decodeKeyMessage(encodeKeyMessage(message)), message);
  }));
});

Deno.test("decodeKeyMessage accepts one form of each key, so that a key has one PeerId", () => {
  const right = encodeKeyMessage({ type: "ed25519", data: new Uint8Array(32) });
  const longer = [...right.subarray(0, 3), 0xa0, 0x00, ...right.subarray(4)];
  const swapped = [...right.subarray(2), ...right.subarray(0, 2)];
  for (const wrong of [longer, swapped, [...right, 0], [...right].slice(0, -1), [8, 2, 18, 0]]) {
    equal(decodeKeyMessage(Uint8Array.from(wrong)), undefined);
  }
});

Deno.test("decodeKeyMessage survives any bytes and writes back just those it accepts", () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    fc.tuple(fc.constantFrom(0, 1, 2), fc.uint8Array({ maxLength: 200 })).map(([type, rest]) =>
      Uint8Array.from([8, type, 18, ...rest])
    ),
  );
  fc.assert(
    fc.property(bytes, (bytes) => {
      const message = decodeKeyMessage(bytes);
      if (message !== undefined) deepEqual([...encodeKeyMessage(message)], [...bytes]);
    }),
    { numRuns: 3_000, seed: 7 },
  );
});

Deno.test("decodeLockRecord reads what was written and survives anything else", () => {
  const record = {
    token: "t",
    host: "node7",
    bootId: "b",
    pidNamespace: "n",
    pid: 1,
    startTicks: 2,
    heartbeat: 3,
    isReleased: false,
  };
  deepEqual(decodeLockRecord(encodeLockRecord(record)), record);
  const bytes = fc.oneof(fc.uint8Array(), fc.json().map((text) => new TextEncoder().encode(text)));
  fc.assert(
    fc.property(bytes, (bytes) => {
      const decoded = decodeLockRecord(bytes);
      equal(decoded === undefined || typeof decoded.pid === "number", true);
    }),
    { numRuns: 500, seed: 7 },
  );
});
