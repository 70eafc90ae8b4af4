// Do the streams that broke other gateways pass ours? Inputs of tests/cases.
import { deepEqual, equal } from "node:assert/strict";
import { SseParser } from "../../lib/usage/sse_parser.ts";
import { StreamTap } from "../../lib/usage/stream_tap.ts";

function input(name: string): Uint8Array {
  return Deno.readFileSync(new URL(`../cases/inputs/${name}`, import.meta.url));
}

function eventsOf(pieces: readonly Uint8Array[]): string[] {
  const parser = new SseParser();
  return pieces.flatMap((piece) => parser.push(piece)).map(({ data }) => data);
}

Deno.test("C001: line ends of every kind give 6 events, at every pair of cuts near line ends and every cut", () => {
  const all = input("C001-mixed-eol.sse");
  const whole = eventsOf([all]);
  equal(whole.length, 6);
  equal(whole[5], "[DONE]");
  const ends = [...all.keys()].filter((at) => all[at] === 0x0a || all[at] === 0x0d);
  for (let cut = 0; cut <= all.length; cut++) {
    deepEqual(eventsOf([all.subarray(0, cut), all.subarray(cut)]), whole);
  }
  for (const a of ends) {
    for (const b of ends.filter((end) => end > a)) {
      const pieces = [all.subarray(0, a), all.subarray(a, b), all.subarray(b)];
      deepEqual(eventsOf(pieces), whole);
    }
  }
  deepEqual(eventsOf(Array.from(all, (_, at) => all.subarray(at, at + 1))), whole);
});

Deno.test("C002: characters and a byte order mark cut anywhere give the same text", () => {
  const { chunks, expect } = JSON.parse(
    new TextDecoder().decode(input("C002-utf8-split.chunks.json")),
  ) as { chunks: string[]; expect: { events: number; text: string } };
  const pieces = chunks.map((hex) =>
    Uint8Array.from(hex.match(/../g) ?? [], (byte) => parseInt(byte, 16))
  );
  const all = Uint8Array.from(pieces.flatMap((piece) => [...piece]));
  const check = (events: string[]) => {
    equal(events.length, expect.events);
    const text = events.slice(0, -1).map((data) => JSON.parse(data).choices[0].delta.content ?? "");
    equal(text.join(""), expect.text);
  };
  check(eventsOf(pieces));
  for (let cut = 0; cut <= all.length; cut++) {
    check(eventsOf([all.subarray(0, cut), all.subarray(cut)]));
  }
});

Deno.test("C006: an error inside a stream is seen at every cut, and bad JSON is none", () => {
  for (
    const [name, sawError] of [
      ["C006-error-in-stream.sse", true],
      ["C006-broken-middle.sse", false],
    ] as const
  ) {
    const all = input(name);
    for (let cut = 0; cut <= all.length; cut++) {
      const tap = new StreamTap();
      tap.push(all.slice(0, cut));
      tap.push(all.slice(cut));
      equal(tap.sawError, sawError, `${name} cut at ${cut}`);
      equal(tap.isAtBoundary, true);
    }
  }
});
