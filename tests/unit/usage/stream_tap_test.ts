// What does the tap see of a stream that passes by, however it was cut?
import { equal } from "node:assert/strict";
import fc from "fast-check";
import { KiB } from "../../../lib/base/units.ts";
import { SseParser } from "../../../lib/usage/sse_parser.ts";
import { StreamTap } from "../../../lib/usage/stream_tap.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

function tapped(all: Uint8Array, cuts: readonly number[] = [], isLines = false): StreamTap {
  const tap = new StreamTap(isLines);
  let from = 0;
  for (const cut of [...cuts, all.length]) {
    const piece = all.slice(from, cut);
    tap.push(piece);
    piece.fill(0xdd); // The chunk is valid until the call returns.
    from = cut;
  }
  return tap;
}

/** Parses everything. */
function naiveError(all: Uint8Array, isLines: boolean): boolean {
  const texts = isLines
    ? new TextDecoder().decode(all).split(/\r\n|\n|\r/)
    : new SseParser().push(all).map(({ data }) => data);
  return texts.some((text) => {
    try {
      const value = JSON.parse(text);
      return typeof value === "object" && value !== null &&
        (value.error !== undefined && value.error !== null || value.type === "error");
    } catch {
      return false;
    }
  });
}

/** Whether the last event is over, on the whole text. */
function naiveBoundary(text: string, isLines: boolean): boolean {
  const lines = text.replace(/\r\n?/g, "\n");
  return text === "" || (isLines ? lines.endsWith("\n") : ("\n" + lines).endsWith("\n\n"));
}

const payload = fc.oneof(
  fc.constantFrom(
    '{"error":{"message":"stopped"}}',
    '{"error":null,"x":1}',
    '{"type":"error","error":{"type":"overloaded_error"}}',
    '{"content":"say \\"error\\" aloud"}',
    '{"a":{"error":1}}',
    '{"error"',
    '""error""',
    '["error"]',
    "[DONE]",
  ),
  fc.string({ unit: "grapheme", maxLength: 30 }).map((content) => JSON.stringify({ content })),
);
const end = fc.constantFrom("\n", "\r", "\r\n");

function streamOf(isLines: boolean): fc.Arbitrary<string> {
  const event = fc.tuple(payload, end, end).map(([text, one, two]) =>
    isLines ? text + one : `data: ${text}${one}${two === "\n" && one === "\r" ? "\r" : two}`
  );
  return fc.tuple(fc.array(event, { maxLength: 12 }), fc.constantFrom("", "data: {", '{"x":'))
    .map(([events, rest]) => events.join("") + rest);
}

for (const isLines of [false, true]) {
  const name = isLines ? "lines of JSON" : "events";
  Deno.test(`StreamTap sees errors and boundaries as a full parse does, for any ${name} and cuts`, () => {
    fc.assert(
      fc.property(streamOf(isLines), fc.array(fc.nat(), { maxLength: 10 }), (text, positions) => {
        const all = bytes(text);
        const cuts = positions.map((at) => at % (all.length + 1)).sort((a, b) => a - b);
        const tap = tapped(all, cuts, isLines);
        equal(tap.sawError, naiveError(all, isLines));
        equal(tap.isAtBoundary, naiveBoundary(text, isLines));
      }),
      { numRuns: 1_500 },
    );
  });
}

Deno.test("StreamTap takes no escaped word for an error", () => {
  const text = 'data: {"choices":[{"delta":{"content":"the \\"error\\" is {\\"error\\":1}"}}]}\n\n';
  equal(tapped(bytes(text)).sawError, false);
});

Deno.test("StreamTap knows a boundary by LF, CR, CRLF and mixtures", () => {
  for (
    const [ending, isBoundary] of Object.entries({
      "\n\n": true,
      "\r\r": true,
      "\r\n\r\n": true,
      "\n\r": true,
      "\n\r\n": true,
      "\r\n\n": true,
      "\r\n\r": true,
      "\r\r\n": true,
      "\n": false,
      "\r": false,
      "\r\n": false,
      "": false,
    })
  ) {
    const all = bytes("data: x" + ending);
    for (let cut = 0; cut <= all.length; cut++) {
      equal(tapped(all, [cut]).isAtBoundary, isBoundary, JSON.stringify([ending, cut]));
    }
  }
  equal(new StreamTap().isAtBoundary, true);
});

Deno.test("StreamTap sees an error in a long stream whose pieces never end at a boundary", () => {
  const filler = `data: {"content":"${"x".repeat(200)}"}\n\n`;
  const text = filler.repeat(1_000) + 'data: {"error":{"code":500}}\n\n' + filler.repeat(1_000);
  for (const size of [1_000, 4_096, 65_537]) {
    const all = bytes(text);
    const cuts = Array.from({ length: Math.floor(all.length / size) }, (_, at) => (at + 1) * size);
    equal(tapped(all, cuts).sawError, true, `pieces of ${size}`);
  }
});

Deno.test("StreamTap keeps a bounded start of an event that does not end", () => {
  const tap = new StreamTap();
  for (let count = 0; count < 1_000; count++) tap.push(new Uint8Array(10 * KiB).fill(0x61));
  equal(tap["unfinishedBytes"] <= 64 * KiB, true);
});
