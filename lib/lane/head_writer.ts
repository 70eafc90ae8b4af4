// How are the heads of a lane written without a general encoder's cost?
import type { Bytes } from "../base/units.ts";

const utf8 = new TextEncoder();

/**
 * Writes the few forms of CBOR (RFC 8949, deterministic) that heads are made of, into one kept buffer. A general
 * encoder took a sixth of the head node's time, most of it for small buffers.
 */
export class HeadWriter {
  private readonly buffer: Uint8Array;
  private at = 0;

  /** @param bytesMax Longer heads give `undefined`. */
  constructor(bytesMax: Bytes) {
    this.buffer = new Uint8Array(bytesMax);
  }

  /** Begins a map. Its keys must follow in the order of their bytes. */
  map(entryCount: number): this {
    this.at = 0;
    return this.head(0xa0, entryCount);
  }

  key(name: string): this {
    return this.text(name);
  }

  integer(value: number): this {
    return value >= 0 ? this.head(0x00, value) : this.head(0x20, -1 - value);
  }

  text(value: string): this {
    const start = this.at;
    const { buffer } = this;
    this.head(0x60, value.length);
    let { at } = this;
    for (let index = 0; index < value.length; index++) {
      const code = value.charCodeAt(index);
      if (code >= 0x80) return this.wideText(value, start);
      buffer[at++] = code; // Beyond the end nothing is written; `bytes` sees it by the length.
    }
    this.at = at;
    return this;
  }

  texts(values: readonly string[]): this {
    this.head(0x80, values.length);
    for (const value of values) this.text(value);
    return this;
  }

  /** @returns What was written, valid until the next `map`; `undefined` when it was too long. */
  bytes(): Uint8Array | undefined {
    return this.at <= this.buffer.length ? this.buffer.subarray(0, this.at) : undefined;
  }

  private wideText(value: string, start: number): this {
    const encoded = utf8.encode(value);
    this.at = start;
    this.head(0x60, encoded.length);
    if (this.at + encoded.length <= this.buffer.length) this.buffer.set(encoded, this.at);
    this.at += encoded.length;
    return this;
  }

  /** Type and length, or value, in their shortest form. */
  private head(type: number, value: number): this {
    const { buffer } = this;
    if (value < 24) buffer[this.at++] = type | value;
    else if (value < 0x100) {
      buffer[this.at++] = type | 24;
      buffer[this.at++] = value;
    } else if (value < 0x1_0000) {
      buffer[this.at++] = type | 25;
      this.bigEndian(value, 2);
    } else if (value < 0x1_0000_0000) {
      buffer[this.at++] = type | 26;
      this.bigEndian(value, 4);
    } else {
      buffer[this.at++] = type | 27;
      this.bigEndian(Math.floor(value / 0x1_0000_0000), 4);
      this.bigEndian(value % 0x1_0000_0000, 4);
    }
    return this;
  }

  private bigEndian(value: number, bytes: number): void {
    for (let shift = (bytes - 1) * 8; shift >= 0; shift -= 8) {
      this.buffer[this.at++] = value >>> shift;
    }
  }
}
