import { deepEqual, equal, match, ok } from "node:assert/strict";
import { decodeText } from "../../../lib/config/decode_text.ts";
import { key, type KeyKind } from "../../../lib/config/key.ts";
import { keyNamed } from "../../../lib/config/schema.ts";

const base = { directory: "/srv/run", home: "/home/ada" };

function decode(kind: KeyKind, text: string): unknown {
  const decoded = decodeText(key("a", kind, null, "test", "A test"), text, base);
  return decoded.ok ? decoded.value : new Error(decoded.message);
}

const right: [KeyKind, string, unknown][] = [
  ["string", "", ""],
  ["string", " a b ", " a b "],
  ["int", "8092", 8092],
  ["int", " 7 ", 7],
  ["int", "007", 7],
  ["float", "1e1", 10],
  ["float", "-.5", -0.5],
  ["bool", "true", true],
  ["bool", "1", true],
  ["bool", "false", false],
  ["bool", "0", false],
  ["duration", "10s", 10_000],
  ["duration", "1h30m", 5_400_000],
  ["duration", "1m0s", 60_000],
  ["bytes", "4KiB", 4_096],
  ["bytes", "67108864", 67_108_864],
  ["path", "~/keys", "/home/ada/keys"],
  ["path", "~", "/home/ada"],
  ["path", "keys/../k", "/srv/run/k"],
  ["path", "/etc/k", "/etc/k"],
  ["list", "", []],
  ["list", "/ip4/192.0.2.1/tcp/1,/ip4/192.0.2.2/tcp/1", [
    "/ip4/192.0.2.1/tcp/1",
    "/ip4/192.0.2.2/tcp/1",
  ]],
  ["list", " a b\n,c ", ["a", "b", "c"]],
  ["list", `["a,b", "c d", 7]`, ["a,b", "c d", "7"]],
  ["list", "[]", []],
  ["map", `{"zone":"a,b","n":1}`, { zone: "a,b", n: "1" }],
  ["map", "zone=a, rack=b=c", { zone: "a", rack: "b=c" }],
];

for (const [kind, text, value] of right) {
  Deno.test(`decodeText reads ${JSON.stringify(text)} as ${kind}`, () => {
    equal(JSON.stringify(decode(kind, text)), JSON.stringify(value));
  });
}

const wrong: [KeyKind, string][] = [
  ["int", ""],
  ["int", "abc"],
  ["int", "8092.5"],
  ["int", "0x10"],
  ["int", "-1"],
  ["int", "9007199254740993"],
  ["float", "1e999"],
  ["float", "NaN"],
  ["bool", "True"],
  ["bool", "off"],
  ["bool", "yes"],
  ["duration", "30"],
  ["duration", "-5s"],
  ["duration", "5 s"],
  ["bytes", "1.5B"],
  ["bytes", "4 KiB"],
  ["string", "a\0b"],
  ["path", "a\0b"],
  ["list", "[1,"],
  ["list", "[null]"],
  ["list", "[{}]"],
  ["map", "zone"],
  ["map", "=a"],
  ["map", "{"],
  ["map", `{"a":{}}`],
  ["map", `{"a":null}`],
];

for (const [kind, text] of wrong) {
  Deno.test(`decodeText refuses ${JSON.stringify(text)} as ${kind} and says what must hold`, () => {
    const refused = decode(kind, text);
    ok(refused instanceof Error, JSON.stringify(refused));
    match(refused.message, /^must be .+: got "/);
  });
}

Deno.test("decodeText refuses what exceeds a bound", () => {
  match(String(decode("string", "x".repeat(65_537))), /at most 65536 characters/);
  match(String(decode("list", "x,".repeat(1_025))), /at most 1024 entries/);
  match(
    String(decode("map", Array.from({ length: 65 }, (_, n) => `k${n}=v`).join())),
    /at most 64/,
  );
  match(String(decode("map", `k=${"v".repeat(257)}`)), /at most 256 characters/);
});

Deno.test("decodeText names the range of a number", () => {
  const row = key("port", "int", 1, "test", "A test", { max: 65_535 });
  const decoded = decodeText(row, "70000", base);
  deepEqual(decoded, {
    ok: false,
    message: `must be a whole number from 0 to 65535: got "70000"`,
  });
});

Deno.test("decodeText never quotes a secret", () => {
  const row = key("network.secret", "string", null, "test", "A test", { isSecret: true });
  const decoded = decodeText(row, "hush\0", base);
  ok(!decoded.ok && !decoded.message.includes("hush"));
});

Deno.test("decodeText keeps a map's names from reaching the prototype", () => {
  const map = decode("map", `{"__proto__":"x","constructor":"y"}`) as Record<string, string>;
  deepEqual(Object.keys(map).sort(), ["__proto__", "constructor"]);
  equal(Object.getPrototypeOf(map), null);
});

Deno.test("decodeText refuses an identity group that could match nothing, and names it", () => {
  const row = keyNamed("service.identity_group")!;
  deepEqual(decodeText(row, "all model=* model=a=b", base), {
    ok: true,
    value: ["all", "model=*", "model=a=b"],
  });
  for (const entry of ["model", "=x", "model=", "ALL", `m=${"x".repeat(511)}`]) {
    const decoded = decodeText(row, JSON.stringify(["model=*", entry]), base);
    const told = decoded.ok ? "" : decoded.message;
    ok(
      told.startsWith(`must be "all", "key=*" or "key=value" each: got "${entry.slice(0, 80)}`),
      told,
    );
  }
});
