import { deepEqual, equal } from "node:assert/strict";
import type { PeerId } from "../../../lib/base/peer_id.ts";
import { silentLog } from "../../../lib/base/ports.ts";
import { ProbeFrameReader } from "../../../lib/membership/probe_frames.ts";
import { decodeProbeMessage, type ProbeMessage } from "../../../lib/membership/probe_message.ts";
import { ProbeStreams } from "../../../lib/node/probe_streams.ts";
import { peerNumbered } from "../../../lib/sim/peer_names.ts";
import { type ByteStreamPair, byteStreamPair } from "../../support/byte_stream_pair.ts";
import { within } from "../../support/within.ts";

const [here, there] = [peerNumbered(1), peerNumbered(2)];
const question: ProbeMessage = { type: "ask", seq: 7, target: peerNumbered(3) };
const answer: ProbeMessage = { type: "answer", seq: 7 };

/** Two nodes whose streams are pairs in memory. */
class Two {
  readonly pairs: ByteStreamPair[] = [];
  readonly heard: [PeerId, ProbeMessage][] = [];
  readonly a: ProbeStreams;
  readonly b: ProbeStreams;
  #rung = Promise.withResolvers<void>();

  constructor(canOpen = true) {
    this.a = new ProbeStreams({
      log: silentLog,
      openStream: () => {
        if (!canOpen) return Promise.reject(new Error("nobody listens"));
        const pair = byteStreamPair();
        this.pairs.push(pair);
        this.b.accept(here, pair.b);
        return Promise.resolve(pair.a);
      },
      received: (peer, message) => this.#received(peer, message),
    });
    this.b = new ProbeStreams({
      log: silentLog,
      openStream: () => Promise.reject(new Error("it has one already")),
      received: (peer, message) => this.#received(peer, message),
    });
  }

  async until(count: number): Promise<void> {
    while (this.heard.length < count) await within(1_000, this.#rung.promise);
  }

  #received(peer: PeerId, message: ProbeMessage): void {
    this.heard.push([peer, message]);
    this.#rung.resolve();
    this.#rung = Promise.withResolvers();
  }
}

Deno.test("ProbeStreams opens one stream with the first message, and both sides use it", async () => {
  const two = new Two();
  two.a.send(there, question);
  two.a.send(there, question);
  await two.until(2);
  two.b.send(here, answer);
  await two.until(3);
  deepEqual(two.heard, [[here, question], [here, question], [there, answer]]);
  equal(two.pairs.length, 1);
  two.a.close();
  two.b.close();
});

Deno.test("ProbeStreams loses what cannot be sent, and tries again with the next message", async () => {
  const alone = new Two(false);
  alone.a.send(there, question);
  alone.a.close();
  const two = new Two();
  two.a.send(there, question);
  await two.until(1);
  two.pairs[0].cut(new Error("gone"));
  await new Promise((resolve) => setTimeout(resolve, 0));
  two.a.send(there, question);
  await two.until(2);
  equal(two.pairs.length, 2);
  two.a.close();
  two.b.close();
});

Deno.test("ProbeStreams drops what a peer does not read, and holds no more than its bound", async () => {
  const two = new Two();
  two.a.send(there, question);
  await two.until(1);
  two.pairs[0].hold();
  for (let count = 0; count < 10_000; count++) two.a.send(there, question);
  equal(two.pairs[0].a.unsentBytes < 80_000, true);
  two.a.close();
  two.b.close();
});

Deno.test("ProbeStreams ends a stream that carries garbage", async () => {
  const pair = byteStreamPair();
  const { b } = new Two();
  b.accept(here, pair.b);
  const closed = Promise.withResolvers<void>();
  pair.a.bind({ data: () => {}, drained: () => {}, closed: () => closed.resolve() });
  pair.a.send(Uint8Array.from([0, 3, 0xff, 0xff, 0xff]));
  await within(1_000, closed.promise);
});

Deno.test("ProbeFrameReader finds messages at every cut", () => {
  const bytes = Uint8Array.from([0, 3, 0x82, 4, 7, 0, 3, 0x82, 4, 8]);
  for (let cut = 0; cut <= bytes.length; cut++) {
    const reader = new ProbeFrameReader();
    const messages = [...reader.take(bytes.slice(0, cut)), ...reader.take(bytes.slice(cut))];
    deepEqual(messages.map(decodeProbeMessage), [answer, { type: "answer", seq: 8 }]);
  }
});
