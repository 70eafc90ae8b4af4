// What does a JSON body ask for, found without building its tree?
import { assert } from "../base/assert.ts";
import type { MatchKeys } from "./identity_group.ts";
import { closingQuote, openString, openStringEscaping, textOfJsonString } from "./json_text.ts";
import {
  foundKeys,
  type KeyScanner,
  type ScanState,
  wantedIndexOf,
  type WantedKeys,
} from "./key_scanner.ts";
import { TokenCapture } from "./token_capture.ts";

/** Deeper bodies are refused: CPython's JSON reader stops at about 1,000 too, so no engine would take them. */
export const jsonDepthMax = 1_000;

const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;

type Position =
  | "start"
  | "beforeKey"
  | "key"
  | "beforeColon"
  | "beforeValue"
  | "string"
  | "scalar"
  | "nested"
  | "nestedString"
  | "afterValue"
  | "done"
  | "malformed";

/**
 * Reads a JSON body once, in chunks cut anywhere, and notes the values of a few top-level keys. Tolerant: it
 * checks no more than it needs to find its way (engines judge bodies, not we), and a first occurrence of a
 * key wins. Costs about a nanosecond a byte, less inside long strings; holds at most `scanTokenBytesMax`.
 * A body that is JSON but no object asks for nothing and is `done`.
 * @example Only the top level counts, and the rest of the body is not waited for
 * ```ts
 * import { equal } from "node:assert/strict";
 * import { foundKeys, wantKeys } from "./key_scanner.ts";
 * const scanner = new JsonKeyScanner(wantKeys(["model"]));
 * const begin = new TextEncoder().encode('{"n":{"model":"inner"},"model":"outer","messages":[');
 * equal(scanner.push(begin), "done");
 * equal(scanner.keys().get("model"), "outer");
 * ```
 */
export class JsonKeyScanner implements KeyScanner {
  #position: Position = "start";
  #depth = 0;
  #isEscaping = false;
  /** The wanted key whose value comes or is being read, -1 when the value does not matter. */
  #index = -1;
  #foundCount = 0;
  #matchedCount = 0;
  readonly #token = new TokenCapture();
  readonly #values: (string | null | undefined)[];
  readonly #wanted: WantedKeys;
  isStream = false;

  constructor(wanted: WantedKeys) {
    this.#wanted = wanted;
    this.#values = new Array(wanted.names.length).fill(undefined);
    if (wanted.names.length === 0) this.#position = "done";
  }

  push(chunk: Uint8Array): ScanState {
    let at = 0;
    while (at < chunk.length && this.#position !== "done" && this.#position !== "malformed") {
      at = this.#step(chunk, at);
    }
    if (this.#isCapturing()) this.#token.carry(chunk, chunk.length);
    return this.#position === "done" || this.#position === "malformed" ? this.#position : "more";
  }

  finish(): "done" | "malformed" {
    if (this.#position === "start") this.#position = "done";
    if (this.#position !== "done") this.#position = "malformed";
    return this.#position;
  }

  get hasAllKeys(): boolean {
    return this.#matchedCount === this.#wanted.matchCount;
  }

  keys(): MatchKeys {
    return foundKeys(this.#wanted, this.#values);
  }

  /** Reads one token or separator from `at`; returns where to go on. */
  #step(chunk: Uint8Array, at: number): number {
    switch (this.#position) {
      case "key":
      case "string":
      case "nestedString":
        return this.#readString(chunk, at);
      case "nested":
        return this.#readNested(chunk, at);
      case "scalar":
        return this.#readScalar(chunk, at);
      default:
        if (!isSpace(chunk[at])) this.#position = this.#afterMark(chunk[at], at);
        return at + 1;
    }
  }

  #afterMark(byte: number, at: number): Position {
    switch (this.#position) {
      case "start":
        if (byte === openBrace) return "beforeKey";
        if (byte === 0xef || byte === 0xbb || byte === 0xbf) return "start"; // Byte order mark.
        return isValueStart(byte) ? "done" : "malformed";
      case "beforeKey":
        if (byte === closeBrace) return "done";
        this.#token.begin(at + 1);
        return byte === quote ? "key" : "malformed";
      case "beforeColon":
        return byte === colon ? "beforeValue" : "malformed";
      case "beforeValue":
        return this.#beginValue(byte, at);
      case "afterValue":
        if (byte === comma) return "beforeKey";
        return byte === closeBrace ? "done" : "malformed";
      default:
        assert(false, `no mark is read at ${this.#position}`);
    }
  }

  #beginValue(byte: number, at: number): Position {
    if (byte === quote) {
      this.#token.begin(at + 1);
      return "string";
    }
    if (byte === openBrace || byte === openBracket) {
      this.#depth = 1;
      return this.#note(null, "nested");
    }
    this.#token.begin(at); // A scalar has no opening mark: its first byte is its own.
    return isValueStart(byte) ? "scalar" : "malformed";
  }

  #readString(chunk: Uint8Array, from: number): number {
    const start = this.#isEscaping ? from + 1 : from;
    this.#isEscaping = false;
    const end = closingQuote(chunk, start);
    if (end === openString || end === openStringEscaping) {
      this.#isEscaping = end === openStringEscaping;
      return chunk.length;
    }
    if (this.#position === "nestedString") {
      this.#position = "nested";
    } else if (this.#position === "key") {
      this.#index = this.#indexOfKey(chunk, end);
      this.#position = "beforeColon";
    } else {
      const isNews = this.#index !== -1;
      const text = isNews ? this.#takeText(chunk, end) ?? null : null;
      this.#position = this.#note(text, "afterValue");
    }
    return end + 1;
  }

  #readNested(chunk: Uint8Array, from: number): number {
    for (let at = from; at < chunk.length; at++) {
      const byte = chunk[at];
      if (byte === quote) {
        this.#position = "nestedString";
        return at + 1;
      }
      if (byte === openBrace || byte === openBracket) {
        this.#depth++;
        if (this.#depth >= jsonDepthMax) {
          this.#position = "malformed";
          return at;
        }
      } else if (byte === closeBrace || byte === closeBracket) {
        this.#depth--;
        if (this.#depth === 0) {
          this.#position = "afterValue";
          return at + 1;
        }
      }
    }
    return chunk.length;
  }

  #readScalar(chunk: Uint8Array, from: number): number {
    let at = from;
    while (at < chunk.length && !endsScalar(chunk[at])) at++;
    if (at === chunk.length) return at;
    if (this.#index !== -1 && this.#index === this.#wanted.streamIndex) {
      this.isStream = this.#takeText(chunk, at) === "true";
    }
    this.#position = this.#note(null, "afterValue");
    return at;
  }

  /** Place among the wanted keys of the key that ends here, -1 when it is none or was seen before. */
  #indexOfKey(chunk: Uint8Array, end: number): number {
    const token = this.#token.take(chunk, end);
    if (!token) return -1;
    let index: number;
    if (hasBackslash(token.bytes, token.start, token.end)) {
      const text = textOfJsonString(token.bytes, token.start, token.end);
      index = text === undefined ? -1 : this.#wanted.names.indexOf(text);
    } else {
      index = wantedIndexOf(this.#wanted, token.bytes, token.start, token.end);
    }
    return index !== -1 && this.#values[index] === undefined ? index : -1;
  }

  #takeText(chunk: Uint8Array, end: number): string | undefined {
    const token = this.#token.take(chunk, end);
    return token && textOfJsonString(token.bytes, token.start, token.end);
  }

  /** Keeps the value when its key is wanted; the scan is done with the last one missing, else goes on at `next`. */
  #note(value: string | null, next: Position): Position {
    if (this.#index === -1) return next;
    this.#values[this.#index] = value;
    if (this.#index < this.#wanted.matchCount) this.#matchedCount++;
    this.#index = -1;
    this.#foundCount++;
    return this.#foundCount === this.#values.length ? "done" : next;
  }

  #isCapturing(): boolean {
    if (this.#position === "key") return true;
    return this.#index !== -1 && (this.#position === "string" || this.#position === "scalar");
  }
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** Letters, digits, minus, quote and opening brackets can begin a value; marks cannot. */
function isValueStart(byte: number): boolean {
  return byte === quote || byte === openBracket || byte === openBrace || byte === 0x2d ||
    (byte >= 0x30 && byte <= 0x39) || (byte >= 0x61 && byte <= 0x7a) ||
    (byte >= 0x41 && byte <= 0x5a);
}

function endsScalar(byte: number): boolean {
  return byte === comma || byte === closeBrace || byte === closeBracket || isSpace(byte);
}

function hasBackslash(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (bytes[at] === 0x5c) return true;
  return false;
}
