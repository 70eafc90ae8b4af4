// How are the usual heads of a lane read without a general decoder's cost?
import { Buffer } from "node:buffer";

/** Signals that a head is in some other form than ours: the general decoder decides then. */
class OtherForm extends Error {}
const otherForm = new OtherForm();

/** Node's buffers cut Latin-1 text in native code; its types do not say so. */
type NativeText = { latin1Slice(start: number, end: number): string };

/** A head's fields: a text, a whole number or a list of texts by a short key. */
export type HeadFields = Record<string, string | number | string[]>;

/**
 * Reads a CBOR map of texts, small integers and lists of texts, as `HeadWriter` writes them.
 * @param bytes Untrusted.
 * @returns `undefined` for every other form, well formed or not.
 */
export function readHead(bytes: Uint8Array): HeadFields | undefined {
  try {
    return new HeadReader(bytes).read();
  } catch (error) {
    if (error instanceof OtherForm) return undefined;
    throw error;
  }
}

class HeadReader {
  /** All bytes as characters: cutting a string is cheaper than decoding each text. */
  private readonly characters: string;
  private at = 0;

  constructor(private readonly bytes: Uint8Array) {
    const { buffer, byteOffset, byteLength } = bytes;
    const native = Buffer.from(buffer, byteOffset, byteLength) as unknown as NativeText;
    this.characters = native.latin1Slice(0, byteLength);
  }

  read(): HeadFields {
    const fields: HeadFields = {};
    const count = this.length(0xa0);
    for (let entry = 0; entry < count; entry++) {
      const key = this.text();
      if (key in fields) throw otherForm;
      fields[key] = this.value();
    }
    if (this.at !== this.bytes.length) throw otherForm;
    return fields;
  }

  private value(): string | number | string[] {
    switch (this.bytes[this.at] & 0xe0) {
      case 0x00:
        return this.length(0x00);
      case 0x20:
        return -1 - this.length(0x20);
      case 0x60:
        return this.text();
      case 0x80:
        return this.texts();
      default:
        throw otherForm;
    }
  }

  private texts(): string[] {
    const count = this.length(0x80);
    // Each text takes a byte at least, so a lying count cannot make us allocate.
    if (count > this.bytes.length - this.at) throw otherForm;
    const texts: string[] = new Array(count);
    for (let index = 0; index < count; index++) texts[index] = this.text();
    return texts;
  }

  private text(): string {
    const length = this.length(0x60);
    const start = this.at;
    const end = start + length;
    if (end > this.bytes.length) throw otherForm;
    for (let at = start; at < end; at++) if (this.bytes[at] >= 0x80) throw otherForm;
    this.at = end;
    return this.characters.slice(start, end);
  }

  /** The length, or value, behind a type; 64-bit ones and other types are left to the general decoder. */
  private length(type: number): number {
    const { bytes } = this;
    const first = bytes[this.at++];
    if ((first & 0xe0) !== type) throw otherForm;
    const info = first & 0x1f;
    if (info < 24) return info;
    if (info > 26) throw otherForm;
    let value = 0;
    for (let count = 1 << (info - 24); count > 0; count--) value = value * 256 + bytes[this.at++];
    if (Number.isNaN(value)) throw otherForm;
    return value;
  }
}
