// What can a hostile peer do to a lane? End it, and nothing else.
import { equal, ok } from "node:assert/strict";
import { encode } from "cborg";
import { OtelaError } from "../../../lib/base/errors.ts";
import { KiB } from "../../../lib/base/units.ts";
import { writeU32 } from "../../../lib/base/u32.ts";
import { frameHeaderBytes, FrameType } from "../../../lib/lane/frame.ts";
import { LanePair } from "../../support/lane_pair.ts";
import { seededRandom } from "../../../lib/sim/seeded_random.ts";

type Random = () => number;

const types = Object.values(FrameType) as number[];

function frame(type: number, id: number, payload: Uint8Array): Uint8Array {
  const all = new Uint8Array(frameHeaderBytes + payload.length);
  all[0] = type;
  writeU32(all, 1, id);
  writeU32(all, 5, payload.length);
  all.set(payload, frameHeaderBytes);
  return all;
}

function below(random: Random, bound: number): number {
  return Math.floor(random() * bound);
}

function noise(random: Random, bytesMax: number): Uint8Array {
  return Uint8Array.from({ length: below(random, bytesMax) }, () => below(random, 256));
}

function headPayload(value: unknown): Uint8Array {
  const head = encode(value);
  const payload = new Uint8Array(5 + head.length);
  writeU32(payload, 1, head.length);
  payload.set(head, 5);
  return payload;
}

/** A frame that looks right, to get past the first checks. */
function plausible(random: Random): Uint8Array {
  const id = 1 + below(random, 12);
  const values = [
    { s: "llm", m: "POST", p: "/", h: [], n: -1, w: below(random, 2 ** 31) },
    { s: 200, h: ["a", "b"] },
    { s: 101, h: [], l: 1 },
    { f: "overloaded", p: "refused", m: "x" },
    { t: ["a", "b"], l: 2 },
    { frameMax: 1, window: below(random, 2 ** 31), exchangesMax: 9, features: [] },
    { ["__proto__"]: { s: 1 }, s: 2 ** 40 },
  ];
  const value = values[below(random, values.length)];
  const payload = random() < 0.5
    ? headPayload(value)
    : random() < 0.5
    ? encode(value)
    : noise(random, 100);
  if (payload.length > 0 && random() < 0.3) {
    payload[below(random, payload.length)] ^= 1 << below(random, 8);
  }
  return frame(types[below(random, types.length)], id, payload);
}

/** @returns Whether the end still lives. */
function feed(
  end: { receive(chunk: Uint8Array, nowMs: number): void },
  chunk: Uint8Array,
): boolean {
  try {
    end.receive(chunk, 1);
    return true;
  } catch (error) {
    ok(error instanceof OtelaError, String(error));
    equal(error.code, "lane_failed");
    return false;
  }
}

Deno.test("a lane ends in order or goes on, whatever bytes come to either end", () => {
  for (let seed = 1; seed <= 400; seed++) {
    const random = seededRandom(seed);
    const pair = new LanePair({
      exchangesMax: 20,
      serve: ({ exchange }) => {
        if (random() < 0.5) exchange.head(200, []);
        if (random() < 0.5) exchange.data(new Uint8Array(below(random, 100_000)));
        if (random() < 0.3) exchange.end([], 0);
      },
    });
    for (let count = 0; count < 5; count++) pair.open(undefined, random() < 0.5);
    pair.settle();
    let [isRequesterAlive, isResponderAlive] = [true, true];
    for (let count = 0; count < 60; count++) {
      const piece = random() < 0.9 ? plausible(random) : noise(random, 200);
      if (isRequesterAlive) isRequesterAlive = feed(pair.requester, piece);
      if (isResponderAlive) isResponderAlive = feed(pair.responder, piece);
      pair.requester.flush();
      pair.responder.flush();
    }
    pair.requester.closed("lane_closed", "over");
    pair.responder.closed("over");
    equal(pair.reservedBytes, 0, `seed ${seed}`);
    for (const { heard } of pair.served) {
      const ends = heard.events.filter((event) => /^(canceled|closed)/.test(event));
      ok(ends.length <= 1, `seed ${seed}: ${heard.events}`);
    }
  }
});

Deno.test("a lane ends in order or goes on, when a valid conversation is damaged anywhere", () => {
  const conversation = recorded();
  for (let seed = 1; seed <= 1_000; seed++) {
    const random = seededRandom(seed);
    for (const side of ["requester", "responder"] as const) {
      const pair = new LanePair();
      pair.open(undefined, false);
      const bytes = conversation[side].slice();
      for (let count = 1 + below(random, 3); count > 0; count--) {
        bytes[below(random, bytes.length)] = below(random, 256);
      }
      const cut = below(random, bytes.length);
      if (feed(pair[side], bytes.subarray(0, cut))) feed(pair[side], bytes.subarray(cut));
      pair[side].flush();
      pair.requester.closed("lane_closed", "over");
      pair.responder.closed("over");
      equal(pair.reservedBytes, 0, `seed ${seed}`);
    }
  }
});

/** What each end of one conversation received. */
function recorded(): { requester: Uint8Array; responder: Uint8Array } {
  const pair = new LanePair();
  const kept: Uint8Array[][] = [[], []];
  for (const [at, wire] of [pair.toRequester, pair.toResponder].entries()) {
    const send = wire.send.bind(wire);
    wire.send = (batch) => {
      kept[at].push(batch.slice());
      return send(batch);
    };
  }
  const { exchange } = pair.open(new Uint8Array(100), false);
  pair.settle();
  const served = pair.served[0].exchange;
  exchange.sendBody(new Uint8Array(500));
  exchange.endBody();
  served.consumed(600, 1);
  served.head(200, ["a", "b"]);
  pair.settle();
  served.data(new Uint8Array(900));
  served.end(["t", "u"], 1);
  pair.settle();
  const [requester, responder] = kept.map((batches) =>
    Uint8Array.from(batches.flatMap((batch) => [...batch]))
  );
  return { requester, responder };
}

Deno.test("an idle requester holds no more than a frame of a lane that sends noise", () => {
  const pair = new LanePair();
  pair.settle();
  const skipped = frame(5, 9, new Uint8Array(16 * KiB));
  for (let count = 0; count < 2_000; count++) {
    ok(feed(pair.requester, skipped));
    ok(feed(pair.responder, skipped));
  }
  equal(pair.reservedBytes, 0);
});
