// Are the same events read from a stream, however it was cut?
import { deepEqual, equal, ok } from "node:assert/strict";
import fc from "fast-check";
import { KiB, MiB } from "../../../lib/base/units.ts";
import { type SseEvent, SseParser } from "../../../lib/usage/sse_parser.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

function read(all: Uint8Array, cuts: readonly number[] = []): SseEvent[] {
  const parser = new SseParser();
  const events: SseEvent[] = [];
  let from = 0;
  for (const cut of [...cuts, all.length]) {
    events.push(...parser.push(all.subarray(from, cut)));
    from = cut;
  }
  return events;
}

/** The HTML standard's §9.2.6 word by word, on the whole text. */
function naive(all: Uint8Array): SseEvent[] {
  const text = new TextDecoder().decode(all).replace(/\r\n?/g, "\n");
  const events: SseEvent[] = [];
  let [data, type, id] = ["", "", ""];
  for (const line of text.split("\n").slice(0, -1)) {
    if (line === "") {
      if (data !== "") events.push({ type: type || "message", data: data.slice(0, -1), id });
      data = "";
      type = "";
      continue;
    }
    if (line.startsWith(":")) continue;
    const at = line.indexOf(":");
    const field = at < 0 ? line : line.slice(0, at);
    const value = at < 0 ? "" : line.slice(at + 1).replace(/^ /, "");
    if (field === "data") data += value + "\n";
    if (field === "event") type = value;
    if (field === "id" && !value.includes("\0")) id = value;
  }
  return events;
}

const line = fc.oneof(
  fc.constantFrom("data", "data:", "data: ", "data:  x", ":", ": ping", "", "", "", "retry: 5"),
  fc.constantFrom(
    "event: error",
    "event:",
    "id: 7",
    "id",
    "id: \0",
    "data:data: y",
    "dat",
    " data: z",
  ),
  fc.string({ unit: "grapheme", maxLength: 12 }).map((text) => "data: " + text),
);
const end = fc.constantFrom("\n", "\r", "\r\n");
const stream = fc.tuple(
  fc.constantFrom("", "\uFEFF", "\uFEFF\uFEFF"),
  fc.array(fc.tuple(line, end), { maxLength: 40 }),
  fc.constantFrom("", "data: unfinished"),
).map(([mark, lines, rest]) => bytes(mark + lines.map((pair) => pair.join("")).join("") + rest));

Deno.test("SseParser reads what the standard reads, for any stream and any cuts", () => {
  fc.assert(
    fc.property(stream, fc.array(fc.nat(), { maxLength: 12 }), (all, positions) => {
      const cuts = positions.map((at) => at % (all.length + 1)).sort((a, b) => a - b);
      deepEqual(read(all, cuts), naive(all));
    }),
    { numRuns: 1_000 },
  );
});

Deno.test("SseParser reads the same one byte at a time", () => {
  fc.assert(fc.property(stream, (all) => {
    deepEqual(read(all, Array.from(all, (_, at) => at)), naive(all));
  }));
});

Deno.test("SseParser ignores one byte order mark, comments and blocks without data", () => {
  const text = "\uFEFF: hello\n\nevent: x\n\ndata: a\ndata: b\nid: 4\n\n\n\ndata:c\r\rdata: open";
  deepEqual(read(bytes(text)), [
    { type: "message", data: "a\nb", id: "4" },
    { type: "message", data: "c", id: "4" },
  ]);
});

Deno.test("SseParser gives up an event above its bound and reads the next", () => {
  const piece = bytes("x".repeat(64 * KiB));
  const line = new SseParser();
  line.push(bytes("data: "));
  for (let count = 0; count < 80; count++) equal(line.push(piece).length, 0);
  // The rest of a dropped line is no line of its own, whatever it looks like.
  deepEqual(line.push(bytes("\ndata: y\n\ndata: z\n\n")), [{ type: "message", data: "z", id: "" }]);
  const lines = new SseParser();
  for (let count = 0; count < 80; count++) {
    lines.push(bytes("data: " + "x".repeat(64 * KiB) + "\n"));
  }
  deepEqual(lines.push(bytes("\ndata: z\n\n")), [{ type: "message", data: "z", id: "" }]);
});

Deno.test("SseParser holds a bounded number of empty data lines", () => {
  const parser = new SseParser();
  const many = bytes("data:\n".repeat(100_000));
  for (let count = 0; count < 45; count++) parser.push(many);
  ok(parser["data"].length <= 4 * MiB);
});
