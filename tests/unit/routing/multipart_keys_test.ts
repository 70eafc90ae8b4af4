import { deepEqual, equal } from "node:assert/strict";
import fc from "fast-check";
import { scanTokenBytesMax, wantKeys } from "../../../lib/routing/key_scanner.ts";
import { boundaryOf, isMultipartForm } from "../../../lib/routing/multipart_head.ts";
import { MultipartKeyScanner, partHeadBytesMax } from "../../../lib/routing/multipart_keys.ts";

const encoder = new TextEncoder();
const wanted = wantKeys(["model", "stream"]);
const type = 'multipart/form-data; boundary="----b0und4ry"';

function form(...parts: readonly (readonly [head: string, content: string])[]): string {
  const written = parts.map(([head, content]) => `------b0und4ry\r\n${head}\r\n\r\n${content}\r\n`);
  return `${written.join("")}------b0und4ry--\r\n`;
}

function field(name: string): string {
  return `Content-Disposition: form-data; name="${name}"`;
}

function scan(body: string | Uint8Array, contentType = type, cut = 0) {
  const bytes = typeof body === "string" ? encoder.encode(body) : body;
  const before = bytes.slice();
  const scanner = new MultipartKeyScanner(contentType, wanted);
  scanner.push(bytes.subarray(0, cut));
  scanner.push(bytes.subarray(cut));
  const state = scanner.finish();
  deepEqual(bytes, before);
  return { state, keys: Object.fromEntries(scanner.keys()), isStream: scanner.isStream };
}

const file = [
  'content-disposition: form-data; filename="a.wav"; name="file"\r\nContent-Type: audio/wav',
  "RIFF\0\0\r\n--not-a-boundary\r\n\r\n\r\n------b0und4r",
] as const;

Deno.test("C031: MultipartKeyScanner finds the model in any order, for every cut of the body", () => {
  const model = [field("model"), "demo-asr"] as const;
  const stream = ["CONTENT-DISPOSITION:form-data;name=stream", "true"] as const;
  for (const parts of [[file, model, stream], [model, file, stream], [stream, file, model]]) {
    const body = form(...parts);
    for (let cut = 0; cut <= body.length; cut++) {
      const found = { state: "done", keys: { model: "demo-asr", stream: "true" }, isStream: true };
      deepEqual(scan(body, type, cut), found, `cut ${cut}`);
    }
  }
});

Deno.test("C031: MultipartKeyScanner is done before a file that comes last", () => {
  const scanner = new MultipartKeyScanner(type, wantKeys(["model"]));
  const begin = `------b0und4ry\r\n${field("model")}\r\n\r\ndemo-asr\r\n------b0und4ry`;
  equal(scanner.push(encoder.encode(begin)), "done");
  equal(scanner.keys().get("model"), "demo-asr");
});

Deno.test("C031: MultipartKeyScanner calls malformed what is no form", () => {
  const whole = form([field("x"), "1"]);
  const bodies = [
    "{}",
    whole.slice(0, -4),
    whole.replace("\r\n\r\n", "\r\n"),
    form(["X: y", "1"]),
    form(['Content-Disposition: attachment; name="model"', "1"]),
    form([`X: ${"y".repeat(partHeadBytesMax)}`, "1"]),
    "x".repeat(10_000) + whole,
    whole.replace("ry\r\n", "ryX\r\n"),
  ];
  for (const body of bodies) equal(scan(body).state, "malformed", body.slice(0, 60));
  for (const bad of ["multipart/form-data", "multipart/form-data; boundary=", 'x; boundary="é"']) {
    equal(scan(whole, bad).state, "malformed", bad);
  }
});

Deno.test("MultipartKeyScanner takes an empty body, empty fields, no parts, a preamble and an epilogue", () => {
  equal(scan("").state, "done");
  deepEqual(scan(form()), { state: "done", keys: {}, isStream: false });
  deepEqual(scan(form([field("model"), ""])).keys, { model: "" });
  deepEqual(scan(`hello\r\n${form([field("model"), "a"])}bye`).keys, { model: "a" });
  equal(scan(form([field("model"), "a"]).replaceAll("\r\n", "\n")).state, "malformed");
});

Deno.test("MultipartKeyScanner keeps the first field of a name; files and long fields are no text", () => {
  deepEqual(scan(form([field("model"), "a"], [field("model"), "b"])).keys, { model: "a" });
  deepEqual(scan(form([`${field("model")}; filename="m.txt"`, "a"])).keys, { model: null });
  deepEqual(scan(form([field("model"), "m".repeat(scanTokenBytesMax + 1)])).keys, { model: null });
});

Deno.test("boundaryOf reads tokens and quoted texts in any place and case", () => {
  equal(boundaryOf("multipart/form-data; boundary=abc"), "abc");
  equal(boundaryOf('Multipart/Form-Data; charset=utf-8; BOUNDARY="a b;\\"c"'), 'a b;"c');
  for (const bad of ["", "a; boundary=", `a; boundary=${"x".repeat(201)}`, 'a; boundary="a "']) {
    equal(boundaryOf(bad), undefined, bad.slice(0, 30));
  }
  equal(isMultipartForm("Multipart/Form-Data;boundary=x"), true);
  for (const other of ["application/json", "multipart/mixed", "multipart/form-datax"]) {
    equal(isMultipartForm(other), false);
  }
});

Deno.test("MultipartKeyScanner agrees with FormData on generated forms, cut anywhere", async () => {
  const name = fc.constantFrom("model", "stream", "other", 'quo"te', "models");
  const content = fc.oneof(
    fc.string({ unit: fc.constantFrom("\r", "\n", "-", "a", "é", "b0und"), maxLength: 20 }),
    fc.constant("true"),
  );
  const member = fc.tuple(name, content, fc.boolean());
  await fc.assert(
    fc.asyncProperty(fc.array(member, { maxLength: 5 }), fc.nat(), async (members, seed) => {
      const data = new FormData();
      const expected: Record<string, string | null> = {};
      for (const [key, raw, isFile] of members) {
        const text = raw.replaceAll(/\r\n?|\n/g, "\r\n"); // As FormData itself writes them.
        if (isFile) data.append(key, new Blob([text]), "a.bin");
        else data.append(key, text);
        if (wanted.names.includes(key) && !(key in expected)) expected[key] = isFile ? null : text;
      }
      const response = new Response(data);
      const contentType = response.headers.get("content-type") ?? "";
      const bytes = new Uint8Array(await response.arrayBuffer());
      const found = scan(bytes, contentType, seed % (bytes.length + 1));
      deepEqual(found, { state: "done", keys: expected, isStream: expected.stream === "true" });
    }),
    { numRuns: 300 },
  );
});

Deno.test("MultipartKeyScanner survives any bytes and forgets what it need not hold", () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 5 }), (chunks) => {
      const scanner = new MultipartKeyScanner(type, wanted);
      for (const chunk of chunks) scanner.push(chunk);
      scanner.finish();
    }),
  );
});
