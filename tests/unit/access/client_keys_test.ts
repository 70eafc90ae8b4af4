import { deepEqual, equal, match, throws } from "node:assert/strict";
import { createHash } from "node:crypto";
import {
  bearerCharsMax,
  bearerOf,
  ClientKeys,
  clientKeysMax,
} from "../../../lib/access/client_keys.ts";

const hashOf = (key: string) => createHash("sha256").update(key).digest("hex");

function problemOf(text: string): string {
  let message = "";
  throws(() => ClientKeys.parse(text, "keys.txt"), (error: Error & { code?: string }) => {
    message = error.message;
    return error.code === "config_invalid";
  });
  return message;
}

Deno.test("ClientKeys finds exactly the keys whose hashes it was given, with their labels", () => {
  const text = `\ufeff# ours\r\n${hashOf("first")}  team a \r\n\r\n  ${
    hashOf("Zweiter é").toUpperCase()
  }\n`;
  const keys = ClientKeys.parse(text, "keys.txt");
  equal(keys.count, 2);
  deepEqual(keys.find("first"), { label: "team a" });
  deepEqual(keys.find("Zweiter é"), { label: "" });
  for (const token of ["", "first ", "First", hashOf("first"), "x".repeat(bearerCharsMax + 1)]) {
    equal(keys.find(token), undefined, token.slice(0, 20));
  }
});

Deno.test("ClientKeys compares every part of a hash", () => {
  const hash = hashOf("first");
  for (let at = 0; at < hash.length; at++) {
    const near = hash.slice(0, at) + (hash[at] === "0" ? "1" : "0") + hash.slice(at + 1);
    equal(ClientKeys.parse(near, "keys.txt").find("first"), undefined, `digit ${at}`);
  }
});

Deno.test("ClientKeys of an empty file let nobody in", () => {
  const keys = ClientKeys.parse("# none yet\n", "keys.txt");
  equal(keys.count, 0);
  equal(keys.find(""), undefined);
});

Deno.test("ClientKeys names the line it cannot read, and never its text", () => {
  const message = problemOf(`${hashOf("a")}\n\nmy-secret-key\n`);
  match(message, /"keys\.txt" as line 3 must be 64 hex digits/);
  equal(message.includes("my-secret-key"), false);
  match(problemOf(hashOf("a").slice(1)), /line 1/);
  match(problemOf(`${hashOf("a")}x`), /line 1/);
});

Deno.test("ClientKeys bounds keys and file", () => {
  const line = `${hashOf("a")}\n`;
  equal(ClientKeys.parse(line.repeat(clientKeysMax), "keys.txt").count, clientKeysMax);
  match(problemOf(line.repeat(clientKeysMax + 1)), /at most 1000 keys: there are 1001/);
  match(problemOf("#".repeat(2 ** 20 + 1)), /at most 1048576 bytes/);
});

Deno.test("bearerOf takes one token after Bearer in any case, and nothing else", () => {
  equal(bearerOf("Bearer sk-1"), "sk-1");
  equal(bearerOf("bEARER   sk-1 "), "sk-1");
  const others = [null, "", "Bearer", "Bearer ", "Basic sk-1", "sk-1", "Bearer a b", "Bearersk"];
  for (const other of [...others, `Bearer ${"x".repeat(600)}`]) equal(bearerOf(other), undefined);
});
