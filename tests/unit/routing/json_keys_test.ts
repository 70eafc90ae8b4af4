import { deepEqual, equal } from "node:assert/strict";
import fc from "fast-check";
import { jsonDepthMax, JsonKeyScanner } from "../../../lib/routing/json_keys.ts";
import { scanTokenBytesMax, wantKeys } from "../../../lib/routing/key_scanner.ts";

const encoder = new TextEncoder();
const wanted = wantKeys(["model", "adapter", "stream"]);

function scan(text: string | Uint8Array, names: readonly string[] = wanted.names) {
  const scanner = new JsonKeyScanner(wantKeys(names));
  scanner.push(typeof text === "string" ? encoder.encode(text) : text);
  const state = scanner.finish();
  return { state, keys: Object.fromEntries(scanner.keys()), isStream: scanner.isStream };
}

Deno.test("JsonKeyScanner finds top-level keys, wherever they stand", () => {
  const body = ' {"messages":[{"model":"no","x":"]}\\""}],"n":-1.5e3,"stream": true ,"model":"a"}';
  deepEqual(scan(body), {
    state: "done",
    keys: { model: "a", stream: null },
    isStream: true,
  });
});

Deno.test("JsonKeyScanner says null for values that are no text", () => {
  for (const value of ["1", "null", "true", "{}", "[]", '{"a":"}"}', '["x",[1]]']) {
    deepEqual(scan(`{"model":${value},"adapter":"z"}`).keys, { model: null, adapter: "z" }, value);
  }
});

Deno.test("JsonKeyScanner keeps the first of two equal keys, however they are spelled", () => {
  deepEqual(scan('{"model":"a","mod\\u0065l":"b"}').keys, { model: "a" });
  deepEqual(scan('{"mod\\u0065l":"b","model":"a"}').keys, { model: "b" });
  deepEqual(scan('{"model":1,"model":"a"}').keys, { model: null });
});

Deno.test("JsonKeyScanner is done as soon as nothing is missing", () => {
  const scanner = new JsonKeyScanner(wantKeys(["model"]));
  equal(scanner.push(encoder.encode('{"model":"a"')), "done");
  equal(scanner.push(encoder.encode("garbage")), "done");
  equal(new JsonKeyScanner(wantKeys([])).push(encoder.encode("{")), "done");
});

Deno.test("JsonKeyScanner has all keys once only stream is missing, and not before", () => {
  const scanner = new JsonKeyScanner(wantKeys(["model"], { withStream: true }));
  equal(scanner.push(encoder.encode('{"stream":true,')), "more");
  equal(scanner.hasAllKeys, false);
  const other = new JsonKeyScanner(wantKeys(["model"], { withStream: true }));
  equal(other.push(encoder.encode('{"model":"a",')), "more");
  equal(other.hasAllKeys, true);
  const both = new JsonKeyScanner(wantKeys(["stream", "model"], { withStream: true }));
  both.push(encoder.encode('{"model":"a",'));
  equal(both.hasAllKeys, false);
  both.push(encoder.encode('"stream":1'));
  equal(both.push(encoder.encode("}")), "done");
  equal(both.hasAllKeys, true);
});

Deno.test("JsonKeyScanner tells stream true from all else", () => {
  equal(scan('{"stream":true}').isStream, true);
  for (const value of ["false", '"true"', "1", "null", "truely", "[true]"]) {
    equal(scan(`{"stream":${value}}`).isStream, false, value);
  }
  equal(scan('{"stream":false,"stream":true}').isStream, false);
  equal(scan('{"stream":true}', ["model"]).isStream, false);
});

Deno.test("JsonKeyScanner takes a byte order mark, an empty body and bodies that are no object", () => {
  deepEqual(scan('\ufeff{"model":"a"}').keys, { model: "a" });
  for (const body of ["", "  \n", "[1,2]", '"text"', "17", "null"]) {
    deepEqual(scan(body), { state: "done", keys: {}, isStream: false }, body);
  }
});

Deno.test("JsonKeyScanner calls malformed what cannot be followed", () => {
  const bodies = [
    "{",
    '{"a',
    '{"a"',
    '{"a" 1}',
    '{"a":}',
    '{"a":1',
    '{"a":[1',
    "{a:1}",
    '{"a":1 2}',
  ];
  for (const body of [...bodies, "%PDF", '{"a":"b}', '{"model":,}']) {
    equal(scan(body).state, "malformed", body);
  }
});

Deno.test("JsonKeyScanner bounds depth and tokens", () => {
  const deep = (depth: number) => `{"x":${"[".repeat(depth)}${"]".repeat(depth)},"model":"a"}`;
  deepEqual(scan(deep(jsonDepthMax - 1)).keys, { model: "a" });
  equal(scan(deep(jsonDepthMax)).state, "malformed");
  const long = "m".repeat(scanTokenBytesMax + 1);
  deepEqual(scan(`{"model":"${long}","${long}":1,"adapter":"z"}`).keys, {
    model: null,
    adapter: "z",
  });
});

Deno.test("JsonKeyScanner bounds tokens that come in pieces too", () => {
  const scanner = new JsonKeyScanner(wanted);
  const text = `{"${"k".repeat(2 * scanTokenBytesMax)}":1,"model":"${
    "m".repeat(scanTokenBytesMax + 1)
  }"`;
  const bytes = encoder.encode(`${text},"adapter":"${"a".repeat(scanTokenBytesMax)}"}`);
  for (let at = 0; at < bytes.length; at += 1_000) scanner.push(bytes.subarray(at, at + 1_000));
  equal(scanner.finish(), "done");
  equal(scanner.keys().get("model"), null);
  equal(scanner.keys().get("adapter")?.length, scanTokenBytesMax);
});

Deno.test("JsonKeyScanner notes no text for escapes that are not JSON's", () => {
  deepEqual(scan('{"model":"a\\x","mo\\zdel":"b","adapter":"c"}').keys, {
    model: null,
    adapter: "c",
  });
});

Deno.test("JsonKeyScanner agrees with JSON.parse, whole and for every cut", () => {
  const key = fc.oneof(
    fc.constantFrom("model", "adapter", "stream", "__proto__", "models", "", "a\\b"),
    fc.string({ unit: "grapheme", maxLength: 6 }),
  );
  const value = fc.oneof(
    fc.jsonValue({ maxDepth: 3 }),
    fc.string({ unit: "binary", maxLength: 80 }).filter((text) => text.isWellFormed()),
    fc.constant(true),
    fc.string({ unit: fc.constantFrom("\\", '"', "n", "{", "]") }),
    fc.string({ unit: fc.constantFrom("\\", '"', "a".repeat(31), "a".repeat(33)), maxLength: 12 }),
  );
  const space = fc.constantFrom("", " ", "\n\t", "\r\n ");
  const escapeAll = fc.boolean();
  const member = fc.tuple(key, value, space, escapeAll);
  fc.assert(
    fc.property(fc.array(member, { maxLength: 6 }), fc.nat(), (members, cutSeed) => {
      const text = `{${
        members.map(([k, v, s, all]) =>
          `${s}${spell(k, all)}${s}:${s}${
            typeof v === "string" ? spell(v, all) : JSON.stringify(v)
          }${s}`
        ).join(",")
      }}`;
      JSON.parse(text); // The oracle's input is JSON.
      const names = ["model", "adapter", "stream", "__proto__", "a\\b", ""];
      const expected = new Map<string, string | null>();
      let isStream = false;
      for (const [k, v] of members) {
        if (!names.includes(k) || expected.has(k)) continue;
        expected.set(k, typeof v === "string" ? v : null);
        if (k === "stream") isStream = v === true;
      }
      const bytes = encoder.encode(text);
      const cuts = bytes.length < 60
        ? Array.from({ length: bytes.length + 1 }, (_, at) => at)
        : [cutSeed % bytes.length, (cutSeed * 7) % bytes.length];
      const names2 = wantKeys(names);
      for (const cut of cuts) {
        const scanner = new JsonKeyScanner(names2);
        scanner.push(bytes.slice(0, cut));
        scanner.push(bytes.slice(cut));
        equal(scanner.finish(), "done");
        deepEqual(sorted(scanner.keys()), sorted(expected));
        equal(scanner.isStream, isStream);
      }
      const scanner = new JsonKeyScanner(names2);
      const byte = new Uint8Array(1);
      for (byte[0] of bytes) scanner.push(byte);
      equal(scanner.finish(), "done");
      deepEqual(sorted(scanner.keys()), sorted(expected));
    }),
    { numRuns: 600 },
  );
});

Deno.test("JsonKeyScanner survives any bytes", () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 5 }), (chunks) => {
      const scanner = new JsonKeyScanner(wanted);
      for (const chunk of chunks) scanner.push(chunk);
      scanner.finish();
    }),
  );
});

function sorted(map: ReadonlyMap<string, string | null>): [string, string | null][] {
  return [...map].sort(([a], [b]) => a < b ? -1 : 1);
}

function spell(text: string, escapesAll: boolean): string {
  if (!escapesAll) return JSON.stringify(text);
  let spelled = "";
  for (let at = 0; at < text.length; at++) {
    spelled += `\\u${text.charCodeAt(at).toString(16).padStart(4, "0")}`;
  }
  return `"${spelled}"`;
}
