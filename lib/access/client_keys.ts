// Does this client hold a key?
import { sha256 } from "@noble/hashes/sha2.js";
import { OtelaError } from "../base/errors.ts";
import { type Bytes, MiB } from "../base/units.ts";

/** Keys in one file; comparing with all of them takes 10 µs then. */
export const clientKeysMax = 1_000;
/** Bytes of such a file. */
export const clientKeysFileBytesMax: Bytes = 1 * MiB;
/** A longer token is no key of ours and is not hashed. */
export const bearerCharsMax = 512;

/** A key that is known. */
export type ClientKey = {
  /** What the file says behind the hash; empty when nothing. For logs: the key itself never appears. */
  readonly label: string;
};

const linePattern = /^([0-9a-f]{64})(?:\s+(\S.*?))?\s*$/i;
const hashWords = 8;

/** The keys of one file, as hashes. */
export class ClientKeys {
  readonly #hashes: Uint32Array;
  readonly #keys: readonly ClientKey[];

  private constructor(hashes: Uint32Array, keys: readonly ClientKey[]) {
    this.#hashes = hashes;
    this.#keys = keys;
  }

  /**
   * Reads a file of keys: on each line the SHA-256 of a key in hex, then, if wanted, blanks and a label. Empty
   * lines and lines that begin with `#` mean nothing.
   * @param text The file, at most `clientKeysFileBytesMax`; may begin with a byte order mark.
   * @param source Named in errors.
   * @throws {OtelaError} `config_invalid` with the line's number, never its text: it may be a key itself.
   */
  static parse(text: string, source: string): ClientKeys {
    const refuse = (must: string): never => {
      throw new OtelaError(
        "config_invalid",
        `Cannot use the client keys of "${source}" as ${must}`,
      );
    };
    if (text.length > clientKeysFileBytesMax) {
      refuse(`the file must have at most ${clientKeysFileBytesMax} bytes: has more`);
    }
    const words: number[] = [];
    const keys: ClientKey[] = [];
    const lines = text.replace(/^\ufeff/, "").split(/\r\n|\n|\r/);
    for (const [index, line] of lines.entries()) {
      const trimmed = line.trim();
      if (trimmed === "" || trimmed.startsWith("#")) continue;
      const match = linePattern.exec(trimmed);
      if (!match) {
        refuse(`line ${index + 1} must be 64 hex digits and perhaps a label: it is not`);
        continue;
      }
      for (let at = 0; at < 64; at += 8) {
        words.push(Number.parseInt(match[1].slice(at, at + 8), 16));
      }
      keys.push({ label: match[2] ?? "" });
    }
    if (keys.length > clientKeysMax) {
      refuse(`there must be at most ${clientKeysMax} keys: there are ${keys.length}`);
    }
    return new ClientKeys(Uint32Array.from(words), keys);
  }

  /** How many keys there are; with none nobody is let in. */
  get count(): number {
    return this.#keys.length;
  }

  /**
   * The key that a token is. Takes the same time whichever key it is or is nearly: every hash is compared whole.
   * @param token Untrusted, as the client sent it.
   * @returns `undefined` when the token is no key.
   */
  find(token: string): ClientKey | undefined {
    if (token.length > bearerCharsMax) return undefined;
    const digest = sha256(new TextEncoder().encode(token));
    const view = new DataView(digest.buffer, digest.byteOffset, digest.byteLength);
    const wanted = new Uint32Array(hashWords);
    for (let word = 0; word < hashWords; word++) wanted[word] = view.getUint32(word * 4);
    let found = -1;
    for (let index = 0; index < this.#keys.length; index++) {
      let difference = 0;
      for (let word = 0; word < hashWords; word++) {
        difference |= this.#hashes[index * hashWords + word] ^ wanted[word];
      }
      if (difference === 0) found = index;
    }
    return this.#keys[found];
  }
}

/**
 * The token of an `Authorization` header.
 * @param header Untrusted; `null` when there is none.
 * @returns `undefined` unless it is `Bearer` (any case), blanks, and one token without blanks.
 * @example The scheme's case means nothing
 * ```ts
 * import { equal } from "node:assert/strict";
 * equal(bearerOf("bearer sk-1"), "sk-1");
 * ```
 */
export function bearerOf(header: string | null): string | undefined {
  if (header === null || header.length > bearerCharsMax + 64) return undefined;
  return /^bearer +([^\s]+) *$/i.exec(header)?.[1];
}
