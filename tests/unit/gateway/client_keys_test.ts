import { equal, throws } from "node:assert/strict";
import { createHash } from "node:crypto";
import {
  clientKeyCharactersMax,
  parseClientKeys,
  requireKey,
} from "../../../lib/gateway/client_keys.ts";

const hash = (key: string) => createHash("sha256").update(key).digest("hex");

Deno.test("parseClientKeys reads hashes with names and comments, in either case", () => {
  const keys = parseClientKeys(
    `# team keys\r\n${hash("a")}  alice\r\n\n  ${hash("b").toUpperCase()} # bob\n`,
  );
  equal(keys.admits("a"), true);
  equal(keys.admits("b"), true);
  for (const key of ["", "c", hash("a"), "A"]) equal(keys.admits(key), false);
});

Deno.test("parseClientKeys admits nobody, when the file has no key", () => {
  equal(parseClientKeys("").admits(""), false);
});

Deno.test("parseClientKeys names the line, when it is no hash", () => {
  throws(() => parseClientKeys(`${hash("a")}\nsk-plain-key\n`), {
    code: "config_invalid",
    message: /line 2/,
  });
});

Deno.test("requireKey never hashes a key beyond its bound", () => {
  const long = "x".repeat(clientKeyCharactersMax + 1);
  throws(() => requireKey(parseClientKeys(hash(long)), `Bearer ${long}`, ""), {
    code: "unauthorized",
  });
  throws(() => requireKey(parseClientKeys(hash("a")), "Basic a", ""), { code: "unauthorized" });
  requireKey(parseClientKeys(hash("a")), "Bearer a", "");
  requireKey(parseClientKeys(hash("a")), "", "a");
});
