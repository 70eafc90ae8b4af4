import { equal, throws } from "node:assert/strict";
import { elfEnd } from "../../../deploy/executable/elf.ts";

/** The header of a 64-bit little-endian ELF file with a table of 3 entries of 64 bytes at byte 100. */
function elf(fileBytes: number): Uint8Array {
  const file = new Uint8Array(fileBytes);
  file.set([0x7f, 0x45, 0x4c, 0x46, 2, 1]);
  const view = new DataView(file.buffer);
  view.setBigUint64(0x28, 100n, true);
  view.setUint16(0x3a, 64, true);
  view.setUint16(0x3c, 3, true);
  return file;
}

Deno.test("elfEnd is the end of the section header table, whatever follows it", () => {
  equal(elfEnd(elf(100 + 3 * 64)), 292);
  equal(elfEnd(elf(5_000)), 292);
});

Deno.test("elfEnd reads a file that lies within a larger buffer", () => {
  const whole = new Uint8Array(1_000);
  whole.set(elf(300), 7);
  equal(elfEnd(whole.subarray(7, 307)), 292);
});

Deno.test("elfEnd refuses what is no such file, or is cut short", () => {
  throws(() => elfEnd(new Uint8Array(0)), /no 64-bit little-endian ELF/);
  throws(() => elfEnd(elf(300).subarray(0, 63)), /no 64-bit little-endian ELF/);
  const other = elf(300);
  other[4] = 1; // 32-bit
  throws(() => elfEnd(other), /no 64-bit little-endian ELF/);
  throws(() => elfEnd(elf(291)), /292 bytes, got 291/);
});
