// Does a saved document unfold to something of sensible size? Answered without unfolding it.
//
// Automerge packs columns by run length, so 200 bytes can hold a million operations. An honest save is one
// document chunk of a few hundred; counting its runs takes microseconds and refuses nearly all hostile ones
// before Automerge sees them. The loader's deadline and memory bound are behind it for the rest.
// Source: Automerge binary format specification, sections "Document chunk" and "Column types".
import { OtelaError } from "../base/errors.ts";
import { type Bytes, MiB } from "../base/units.ts";

/** Raw deflate. @throws When the bytes are none, or unfold to more than `bytesMax`. */
export type Inflate = (bytes: Uint8Array, bytesMax: Bytes) => Uint8Array;

/** Items of one column: 200 changes of 50 operations, far above what an owner's budget allows. */
const itemsMax = 10_000;
const columnsMax = 64;
const actorsMax = 64;
const headsMax = 64;
const inflatedBytesMax: Bytes = MiB;
const magic = [0x85, 0x6f, 0x4a, 0x83];
const checksumBytes = 4;
const headBytes = 32;
const documentChunk = 0;
const deflated = 0x08;

/**
 * Looks at the columns of a saved document.
 * @param document Untrusted.
 * @throws {OtelaError} `envelope_invalid` when it is not one document chunk, or has too many items.
 */
export function checkDocumentShape(document: Uint8Array, inflate: Inflate): void {
  const reader = new Reader(document);
  for (const byte of magic) if (reader.byte() !== byte) throw refused("begin with its magic bytes");
  reader.skip(checksumBytes);
  if (reader.byte() !== documentChunk) throw refused("be a document chunk");
  if (reader.unsigned() !== reader.left) throw refused("be one chunk");
  for (let actors = reader.count(actorsMax); actors > 0; actors--) reader.skip(reader.unsigned());
  reader.skip(reader.count(headsMax) * headBytes);
  const columns = [...readColumns(reader), ...readColumns(reader)];
  for (const { specification, length } of columns) {
    const packed = reader.take(length);
    const isPacked = (specification & deflated) !== 0;
    countItems(specification & 7, isPacked ? inflate(packed, inflatedBytesMax) : packed);
  }
}

type Column = { readonly specification: number; readonly length: Bytes };

function readColumns(reader: Reader): Column[] {
  const count = reader.count(columnsMax);
  return Array.from({ length: count }, () => ({
    specification: reader.unsigned(),
    length: reader.unsigned(),
  }));
}

const group = 0;
const boolean = 4;
const text = 5;
const raw = 7;

function countItems(type: number, column: Uint8Array): void {
  if (type === raw) return; // Its bytes are its size.
  const reader = new Reader(column);
  let items = 0;
  const add = (count: number) => {
    items += count;
    if (items > itemsMax) throw refused(`have at most ${itemsMax} items in a column`);
  };
  /** One value; a group's value is how many items of other columns belong to it. */
  const value = (count: number) => {
    const read = reader.unsigned();
    if (type === text) reader.skip(read);
    if (type === group) add(read * count);
  };
  while (reader.left > 0) {
    if (type === boolean) {
      add(reader.unsigned());
      continue;
    }
    const run = reader.signed();
    if (run === 0) {
      add(reader.unsigned());
    } else if (run > 0) {
      add(run);
      value(run);
    } else {
      add(-run);
      for (let literal = 0; literal < -run; literal++) value(1);
    }
  }
}

/** Reads LEB128 numbers; everything beyond the end is refused. */
class Reader {
  #at = 0;

  constructor(readonly bytes: Uint8Array) {}

  get left(): Bytes {
    return this.bytes.byteLength - this.#at;
  }

  byte(): number {
    if (this.left < 1) throw refused("be whole");
    return this.bytes[this.#at++];
  }

  take(length: Bytes): Uint8Array {
    if (length > this.left) throw refused("be whole");
    this.#at += length;
    return this.bytes.subarray(this.#at - length, this.#at);
  }

  skip(length: Bytes): void {
    this.take(length);
  }

  count(countMax: number): number {
    const count = this.unsigned();
    if (count > countMax) throw refused("have fewer parts");
    return count;
  }

  /** Exact up to 53 bit; more is only ever compared with small bounds or skipped as a value. */
  unsigned(): number {
    return this.#number().value;
  }

  signed(): number {
    const { value, bits, isNegative } = this.#number();
    return isNegative ? value - 2 ** bits : value;
  }

  #number(): { value: number; bits: number; isNegative: boolean } {
    let value = 0;
    for (let bits = 0; bits < 70;) {
      const byte = this.byte();
      value += (byte & 0x7f) * 2 ** bits;
      bits += 7;
      if (byte < 0x80) return { value, bits, isNegative: (byte & 0x40) !== 0 };
    }
    throw refused("have numbers of at most 64 bit");
  }
}

function refused(rule: string): OtelaError {
  return new OtelaError("envelope_invalid", `Cannot take a document as it must ${rule}`);
}
