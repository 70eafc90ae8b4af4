import { deepEqual, equal, ok } from "node:assert/strict";
import fc from "fast-check";
import { encodeProbeMessage } from "../../../lib/membership/probe_message.ts";
import { encodeRumour } from "../../../lib/membership/rumour.ts";
import { EventQueue } from "../../../lib/sim/event_queue.ts";
import { probeMessageBytes, rumourBytes } from "../../../lib/sim/message_size.ts";
import { quantile } from "../../../lib/sim/measures.ts";
import { peerNumbered } from "../../../lib/sim/peer_names.ts";
import { anyProbeMessage, anyRumour } from "../../support/probe_messages.ts";

Deno.test("probeMessageBytes counts what encodeProbeMessage makes", () => {
  fc.assert(fc.property(anyProbeMessage, (message) => {
    equal(probeMessageBytes(message), encodeProbeMessage(message).byteLength);
  }));
  fc.assert(fc.property(anyRumour, (rumour) => {
    equal(rumourBytes(rumour) + 2, encodeRumour(rumour).byteLength);
  }));
});

Deno.test("EventQueue gives things back by time, then in the order in which they came", () => {
  fc.assert(fc.property(fc.array(fc.integer({ min: 0, max: 20 })), (times) => {
    const queue = new EventQueue();
    const happened: [number, number][] = [];
    times.forEach((atMs, order) => queue.add(atMs, () => happened.push([atMs, order])));
    for (let next = queue.take(); next; next = queue.take()) next.run();
    deepEqual(
      happened,
      times.map((atMs, order): [number, number] => [atMs, order])
        .sort((a, b) => a[0] - b[0] || a[1] - b[1]),
    );
    equal(queue.nextAtMs, Infinity);
  }));
});

Deno.test("peerNumbered gives each number its own PeerId", () => {
  const names = new Set(Array.from({ length: 6_000 }, (_, number) => peerNumbered(number)));
  equal(names.size, 6_000);
});

Deno.test("quantile takes the least value that the share does not exceed", () => {
  deepEqual([0.5, 0.99, 1].map((share) => quantile([1, 2, 3, 4], share)), [2, 4, 4]);
  ok(Number.isNaN(quantile([], 0.5)));
});
