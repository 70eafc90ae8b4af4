// What does a multipart form ask for, wherever its fields stand?
import type { Bytes } from "../base/units.ts";
import type { MatchKeys } from "./identity_group.ts";
import {
  foundKeys,
  type KeyScanner,
  type ScanState,
  scanTokenBytesMax,
  type WantedKeys,
} from "./key_scanner.ts";
import { boundaryOf, fieldOf } from "./multipart_head.ts";

/** Headers of one part; RFC 7578 forms have about 200 bytes. */
export const partHeadBytesMax: Bytes = 8 * 1024;
/** Bytes before the first boundary; forms have none. */
const preambleBytesMax: Bytes = 4 * 1024;

const lineEnd = Uint8Array.of(0x0d, 0x0a);
const headEnd = Uint8Array.of(0x0d, 0x0a, 0x0d, 0x0a);
const dashes = Uint8Array.of(0x2d, 0x2d);

type Position = "preamble" | "afterDelimiter" | "head" | "content" | "done" | "malformed";

/**
 * Reads a `multipart/form-data` body once, in chunks cut anywhere, and notes a few text fields; a field with a
 * file name is present, but no text. Holds at most the head of one part and the value of one wanted field.
 */
export class MultipartKeyScanner implements KeyScanner {
  #position: Position = "preamble";
  /** Bytes of earlier chunks that are not read yet: less than a delimiter, or a part's head so far. */
  #rest: Uint8Array = lineEnd; // As if a line had ended, since the first delimiter has none before it.
  #preambleBytes = 0;
  /** The wanted field whose content comes, -1 when it does not matter. */
  #index = -1;
  #value: Uint8Array[] = [];
  #valueBytes = 0;
  #foundCount = 0;
  #matchedCount = 0;
  readonly #delimiter: Uint8Array;
  readonly #values: (string | null | undefined)[];
  readonly #wanted: WantedKeys;
  isStream = false;

  /** @param contentType Value of the header; without a usable boundary every body is malformed. */
  constructor(contentType: string, wanted: WantedKeys) {
    const boundary = boundaryOf(contentType);
    if (boundary === undefined) this.#position = "malformed";
    else if (wanted.names.length === 0) this.#position = "done";
    this.#delimiter = new TextEncoder().encode(`\r\n--${boundary ?? ""}`);
    this.#wanted = wanted;
    this.#values = new Array(wanted.names.length).fill(undefined);
  }

  push(chunk: Uint8Array): ScanState {
    if (this.#position === "done" || this.#position === "malformed") return this.#position;
    let bytes = chunk;
    if (this.#rest.length > 0) {
      bytes = new Uint8Array(this.#rest.length + chunk.length);
      bytes.set(this.#rest);
      bytes.set(chunk, this.#rest.length);
    }
    let at = 0;
    for (;;) {
      const next = this.#step(bytes, at);
      if (next === -1) break;
      at = next;
    }
    // A step that waits for more has left in #rest what it needs again.
    return this.#isOver() ? this.#position as "done" | "malformed" : "more";
  }

  finish(): "done" | "malformed" {
    const isEmpty = this.#position === "preamble" && this.#preambleBytes === 0 &&
      this.#rest.length === lineEnd.length;
    if (isEmpty) this.#position = "done";
    else if (this.#position !== "done") this.#position = "malformed";
    return this.#position;
  }

  get hasAllKeys(): boolean {
    return this.#matchedCount === this.#wanted.matchCount;
  }

  keys(): MatchKeys {
    return foundKeys(this.#wanted, this.#values);
  }

  #isOver(): boolean {
    return this.#position === "done" || this.#position === "malformed";
  }

  /** Reads on from `at`; returns where to go on, -1 when the scan is over or more bytes are needed. */
  #step(bytes: Uint8Array, at: number): number {
    switch (this.#position) {
      case "preamble":
      case "content":
        return this.#readContent(bytes, at);
      case "afterDelimiter":
        return this.#readAfterDelimiter(bytes, at);
      case "head":
        return this.#readHead(bytes, at);
      default:
        return -1;
    }
  }

  #readContent(bytes: Uint8Array, at: number): number {
    const found = indexOfBytes(bytes, this.#delimiter, at);
    const end = found === -1 ? Math.max(at, bytes.length - this.#delimiter.length + 1) : found;
    this.#take(bytes.subarray(at, end));
    if (this.#position === "malformed") return -1;
    if (found === -1) return this.#wait(bytes, end);
    this.#endContent();
    return this.#isOver() ? -1 : found + this.#delimiter.length;
  }

  #readAfterDelimiter(bytes: Uint8Array, at: number): number {
    let end = at;
    while (end < bytes.length && (bytes[end] === 0x20 || bytes[end] === 0x09)) end++; // Padding.
    if (bytes.length - end < 2) {
      if (end - at > partHeadBytesMax) return this.#refuse();
      return this.#wait(bytes, at);
    }
    if (end === at && startsWith(bytes, dashes, at)) {
      this.#position = "done"; // The form is over; an epilogue means nothing.
      return -1;
    }
    if (!startsWith(bytes, lineEnd, end)) return this.#refuse();
    this.#position = "head";
    return end; // The line end belongs to the head, so that a head without lines is found too.
  }

  #readHead(bytes: Uint8Array, at: number): number {
    const end = indexOfBytes(bytes, headEnd, at);
    if ((end === -1 ? bytes.length : end) - at > partHeadBytesMax) return this.#refuse();
    if (end === -1) return this.#wait(bytes, at);
    const field = fieldOf(bytes.subarray(at, end));
    if (!field) return this.#refuse();
    const index = this.#wanted.names.indexOf(field.name);
    this.#index = index !== -1 && this.#values[index] === undefined ? index : -1;
    this.#position = "content";
    if (this.#index !== -1 && field.isFile) {
      this.#note(null);
      if (this.#isOver()) return -1;
    }
    // The content may be empty: then the delimiter's line end is the one that ended the head.
    return end + lineEnd.length;
  }

  #take(bytes: Uint8Array): void {
    if (this.#position === "preamble") {
      this.#preambleBytes += bytes.length;
      if (this.#preambleBytes > preambleBytesMax) this.#position = "malformed";
    } else if (this.#index !== -1 && bytes.length > 0) {
      this.#valueBytes += bytes.length;
      if (this.#valueBytes <= scanTokenBytesMax) this.#value.push(bytes.slice());
    }
  }

  #endContent(): void {
    const isField = this.#position === "content" && this.#index !== -1;
    this.#position = "afterDelimiter";
    if (!isField) return;
    const isTooLong = this.#valueBytes > scanTokenBytesMax;
    // The first two bytes are the line end behind the head.
    const text = isTooLong ? null : textOf(this.#value).slice(2);
    if (this.#index === this.#wanted.streamIndex) this.isStream = text === "true";
    this.#note(text);
  }

  #note(value: string | null): void {
    this.#values[this.#index] = value;
    if (this.#index < this.#wanted.matchCount) this.#matchedCount++;
    this.#index = -1;
    this.#value = [];
    this.#valueBytes = 0;
    this.#foundCount++;
    if (this.#foundCount === this.#values.length) this.#position = "done";
  }

  #refuse(): number {
    this.#position = "malformed";
    this.#rest = new Uint8Array(0);
    return -1;
  }

  #wait(bytes: Uint8Array, from: number): number {
    this.#rest = bytes.slice(from);
    return -1;
  }
}

function textOf(parts: readonly Uint8Array[]): string {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  return parts.map((part) => decoder.decode(part, { stream: true })).join("") + decoder.decode();
}

function startsWith(bytes: Uint8Array, wanted: Uint8Array, at: number): boolean {
  for (let index = 0; index < wanted.length; index++) {
    if (bytes[at + index] !== wanted[index]) return false;
  }
  return true;
}

function indexOfBytes(bytes: Uint8Array, wanted: Uint8Array, from: number): number {
  const last = bytes.length - wanted.length;
  for (let at = from; at <= last; at++) {
    at = bytes.indexOf(wanted[0], at);
    if (at === -1 || at > last) return -1;
    if (startsWith(bytes, wanted, at)) return at;
  }
  return -1;
}
