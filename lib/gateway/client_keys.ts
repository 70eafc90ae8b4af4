// Who may enter by the client door?
import { createHash } from "node:crypto";
import { OtelaError } from "../base/errors.ts";

/** The keys of clients, known only by their SHA-256. */
export interface ClientKeys {
  /** @param key As the client sent it; longer than `clientKeyCharactersMax` never fits. */
  admits(key: string): boolean;
}

/** Longest key that is hashed: a bound on what an uninvited request costs. Guess. */
export const clientKeyCharactersMax = 512;

/** Most keys in one file. Guess. */
export const clientKeysMax = 100_000;

/**
 * Reads a file of key hashes: one SHA-256 in hex a line, optionally followed by white space and a name
 * for people; `#` begins a comment. Looking up a hash needs no constant time, because nobody can steer
 * a SHA-256 toward a neighbour.
 * @param text The file; without any key it admits nobody.
 * @throws {OtelaError} `config_invalid` naming the line that is no hash.
 */
export function parseClientKeys(text: string): ClientKeys {
  const hashes = new Set<string>();
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const [hash] = line.replace(/#.*/, "").trim().split(/\s+/);
    if (hash === "") continue;
    if (!/^[0-9a-fA-F]{64}$/.test(hash) || hashes.size >= clientKeysMax) {
      throw new OtelaError(
        "config_invalid",
        `Cannot read line ${
          index + 1
        } of the client keys as it must begin with a SHA-256 in hex, ` +
          `and there may be ${clientKeysMax} at most`,
      );
    }
    hashes.add(hash.toLowerCase());
  }
  return {
    admits: (key) =>
      key !== "" && key.length <= clientKeyCharactersMax &&
      hashes.has(createHash("sha256").update(key).digest("hex")),
  };
}

/**
 * Refuses a request without a key that fits.
 * @param authorization `Bearer <key>`, the scheme in any case, as OpenAI's clients send it.
 * @param apiKey `x-api-key`, as Anthropic's clients send it.
 * @throws {OtelaError} `unauthorized`; says whether the key is missing or wrong, never the key.
 */
export function requireKey(keys: ClientKeys, authorization: string, apiKey: string): void {
  const bearer = /^bearer +(\S+) *$/i.exec(authorization)?.[1] ?? "";
  const key = bearer || apiKey;
  if (keys.admits(key)) return;
  throw new OtelaError(
    "unauthorized",
    key === ""
      ? 'Cannot serve the request as it must carry a key: "Authorization: Bearer …" is missing'
      : "Cannot serve the request as its key must be one of this node's: it is not",
  );
}
