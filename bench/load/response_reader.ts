// How is an HTTP/1.1 answer read with so little work that the load does not measure itself?

/** Where the reader is in an answer. */
const enum Part {
  Head,
  Body,
  ChunkSize,
  ChunkData,
  ChunkEnd,
  Trailers,
}

const newline = 10;
const headBytesMax = 32 * 1024;
const contentLength = new TextEncoder().encode("content-length:");
const transferEncoding = new TextEncoder().encode("transfer-encoding:");

/**
 * Reads answers of one kept connection, one after the other, out of one buffer that is never replaced.
 * It knows only what our targets send: a length or chunks, no 1xx, no pipelining.
 */
export class ResponseReader {
  /** Status of the answer being read; valid once its head is complete. */
  status = 0;
  readonly #buffer = new Uint8Array(headBytesMax);
  readonly #onBody: (bytes: Uint8Array, from: number, to: number) => void;
  #part = Part.Head;
  #filled = 0;
  #remaining = 0;
  #isTrailerLineEmpty = true;

  /** @param onBody Gets the bytes of the body as they come; they are overwritten by the next read. */
  constructor(onBody: (bytes: Uint8Array, from: number, to: number) => void = () => {}) {
    this.#onBody = onBody;
  }

  /** Where the next read must put its bytes. */
  space(): Uint8Array {
    return this.#filled === 0 ? this.#buffer : this.#buffer.subarray(this.#filled);
  }

  /**
   * Takes the bytes that a read has just put into `space()`.
   * @returns Whether the answer is complete; the next one may then be asked for.
   * @throws {Error} On an answer that this reader does not know.
   */
  accept(count: number): boolean {
    const end = this.#filled + count;
    let at = 0;
    if (this.#part === Part.Head) {
      at = this.#acceptHead(end);
      if (at < 0) {
        if (end === headBytesMax) throw new Error(`Head of more than ${headBytesMax} bytes`);
        this.#filled = end;
        return false;
      }
    }
    this.#filled = 0;
    const isComplete = this.#acceptBody(at, end);
    if (isComplete) this.#part = Part.Head;
    return isComplete;
  }

  #acceptHead(end: number): number {
    const bytes = this.#buffer;
    let lineStart = 0;
    let length = -1;
    let isChunked = false;
    for (let at = 0; at < end; at++) {
      if (bytes[at] !== newline) continue;
      if (at - lineStart <= 1) {
        this.status = Number(String.fromCharCode(bytes[9], bytes[10], bytes[11]));
        if (!isChunked && length < 0) throw new Error("Answer with neither a length nor chunks");
        this.#part = isChunked ? Part.ChunkSize : Part.Body;
        this.#remaining = isChunked ? 0 : length;
        return at + 1;
      }
      if (hasName(bytes, lineStart, contentLength)) {
        length = decimal(bytes, lineStart + contentLength.length, at);
      } else if (hasName(bytes, lineStart, transferEncoding)) isChunked = true;
      lineStart = at + 1;
    }
    return -1;
  }

  #acceptBody(from: number, end: number): boolean {
    const bytes = this.#buffer;
    let at = from;
    while (true) {
      if (this.#part === Part.Body || this.#part === Part.ChunkData) {
        const to = Math.min(end, at + this.#remaining);
        if (to > at) this.#onBody(bytes, at, to);
        this.#remaining -= to - at;
        at = to;
        if (this.#remaining > 0) return false;
        if (this.#part === Part.Body) return this.#endsAt(at, end);
        this.#part = Part.ChunkEnd;
      }
      if (at === end) return false;
      const byte = bytes[at++];
      if (this.#part === Part.ChunkEnd) {
        if (byte === newline) this.#part = Part.ChunkSize;
      } else if (this.#part === Part.ChunkSize) {
        const digit = hexDigit(byte);
        if (digit >= 0) this.#remaining = this.#remaining * 16 + digit;
        else if (byte === newline) {
          this.#part = this.#remaining > 0 ? Part.ChunkData : Part.Trailers;
          this.#isTrailerLineEmpty = true;
        }
      } else if (byte === newline) {
        if (this.#isTrailerLineEmpty) return this.#endsAt(at, end);
        this.#isTrailerLineEmpty = true;
      } else if (byte !== 13) this.#isTrailerLineEmpty = false;
    }
  }

  #endsAt(at: number, end: number): boolean {
    if (at !== end) throw new Error("Bytes after the end of an answer");
    return true;
  }
}

function hasName(bytes: Uint8Array, at: number, name: Uint8Array): boolean {
  for (let i = 0; i < name.length; i++) {
    if ((bytes[at + i] | 0x20) !== (name[i] | 0x20)) return false;
  }
  return true;
}

function decimal(bytes: Uint8Array, from: number, to: number): number {
  let value = 0;
  for (let at = from; at < to; at++) {
    const digit = bytes[at] - 48;
    if (digit >= 0 && digit <= 9) value = value * 10 + digit;
  }
  return value;
}

/** -1 for what is no hexadecimal digit. */
function hexDigit(byte: number): number {
  if (byte >= 48 && byte <= 57) return byte - 48;
  const letter = byte | 0x20;
  return letter >= 97 && letter <= 102 ? letter - 87 : -1;
}
