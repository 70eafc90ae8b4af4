// Where does a program end, in a file that has something appended to it?
import type { Bytes } from "../../lib/base/units.ts";

/** Offsets in the header of a 64-bit ELF file (System V ABI, chapter 4, "ELF Header"). */
const at = { magic: 0, class: 4, order: 5, tableOffset: 0x28, entryBytes: 0x3a, entryCount: 0x3c };
const headerBytes: Bytes = 0x40;
const magic = 0x7f454c46;
const is64Bit = 2;
const isLittleEndian = 1;

/**
 * The end of the section header table, which linkers write last: e_shoff + e_shentsize × e_shnum.
 * What follows is no part of the program.
 * @param file Begins with the header of a 64-bit, little-endian ELF file.
 * @throws {Error} When it is none, or ends before its table does.
 */
export function elfEnd(file: Uint8Array): Bytes {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const isElf = file.byteLength >= headerBytes && view.getUint32(at.magic) === magic &&
    view.getUint8(at.class) === is64Bit && view.getUint8(at.order) === isLittleEndian;
  if (!isElf) throw new Error("Cannot read the program: it is no 64-bit little-endian ELF file");
  const end = Number(view.getBigUint64(at.tableOffset, true)) +
    view.getUint16(at.entryBytes, true) * view.getUint16(at.entryCount, true);
  if (end > file.byteLength) {
    throw new Error(`Cannot cut the program: it says it has ${end} bytes, got ${file.byteLength}`);
  }
  return end;
}
