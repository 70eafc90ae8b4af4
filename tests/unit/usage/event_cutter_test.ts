import { deepEqual, equal } from "node:assert/strict";
import fc from "fast-check";
import { MiB } from "../../../lib/base/units.ts";
import { EventCutter } from "../../../lib/usage/event_cutter.ts";
import { SseParser } from "../../../lib/usage/sse_parser.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

Deno.test("EventCutter passes whole events as they are and keeps half an event back", () => {
  const cutter = new EventCutter();
  const whole = encoder.encode("data: a\n\n");
  equal(cutter.push(whole), whole);
  equal(decoder.decode(cutter.push(encoder.encode("data: b\n\ndata: c"))), "data: b\n\n");
  equal(cutter.push(encoder.encode("c\n")).length, 0);
  equal(decoder.decode(cutter.push(encoder.encode("\n"))), "data: cc\n\n");
  cutter.push(encoder.encode("data: ha"));
  equal(decoder.decode(cutter.take()), "data: ha");
});

Deno.test("EventCutter gives up an event without an end and passes everything from then on", () => {
  const cutter = new EventCutter();
  equal(cutter.push(new Uint8Array(MiB)).length, 0);
  equal(cutter.push(new Uint8Array(1)).length, MiB + 1);
  equal(cutter.isGivenUp, true);
  equal(cutter.push(new Uint8Array(3)).length, 3);
});

Deno.test("EventCutter changes no byte and cuts only between events, for every line end and cut", () => {
  const eol = fc.constantFrom("\n", "\r\n", "\r");
  const event = fc.record({ text: fc.string({ maxLength: 12 }), eol, blank: eol })
    .map(({ text, eol, blank }) => `data: ${text.replaceAll(/[\r\n]/g, "é")}${eol}${blank}`);
  fc.assert(
    fc.property(fc.array(event), fc.array(fc.nat(20), { minLength: 1 }), (events, cuts) => {
      const bytes = encoder.encode(events.join(""));
      const cutter = new EventCutter();
      const whole = new SseParser();
      let passed = "";
      let count = 0;
      for (let at = 0, n = 0; at < bytes.length; n++) {
        const end = at + 1 + cuts[n % cuts.length];
        const piece = cutter.push(bytes.slice(at, end));
        passed += decoder.decode(piece, { stream: true });
        count += whole.push(piece).length;
        at = end;
      }
      passed += decoder.decode(cutter.take());
      equal(passed, events.join(""));
      // A parser of its own for each piece that passed sees every event as well: none was halved.
      const all = new SseParser().push(bytes);
      deepEqual(count, all.length);
    }),
  );
});
