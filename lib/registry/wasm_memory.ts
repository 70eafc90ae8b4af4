// How do we keep hostile bytes from filling memory while Automerge reads them?
import { assert } from "../base/assert.ts";
import type { Bytes } from "../base/units.ts";
import { concatBytes } from "../base/concat_bytes.ts";

const headerBytes = 8;
const memorySection = 5;
const hasMaximum = 1;
const pageBytes: Bytes = 65_536;

/**
 * Gives the one memory of a WebAssembly binary a maximum. Allocating beyond it traps at once, which is cheaper
 * than the alternative: a thread that is terminated inside WebAssembly never gives its memory back (measured:
 * 130 MB for each save of four million packed operations; with the maximum nothing is lost).
 * Source: WebAssembly core specification §5.5.8, memory section.
 * @param binary Ours, with exactly one memory; not changed.
 * @param bytesMax A multiple of 64 KiB, above what the memory begins with.
 */
export function capWasmMemory(binary: Uint8Array, bytesMax: Bytes): Uint8Array<ArrayBuffer> {
  for (let at = headerBytes; at < binary.byteLength;) {
    const [length, start] = readLeb(binary, at + 1);
    if (binary[at] === memorySection) {
      const [memoryCount, flagsAt] = readLeb(binary, start);
      assert(memoryCount === 1, "Automerge has one memory");
      const [pagesMin] = readLeb(binary, flagsAt + 1);
      const body = [1, hasMaximum, ...leb(pagesMin), ...leb(bytesMax / pageBytes)];
      const section = Uint8Array.from([memorySection, ...leb(body.length), ...body]);
      return concatBytes([binary.subarray(0, at), section, binary.subarray(start + length)]);
    }
    at = start + length;
  }
  assert(false, "Automerge has a memory section");
}

/** @returns An unsigned LEB128 number and where it ends. */
function readLeb(bytes: Uint8Array, start: number): [number, number] {
  let value = 0;
  let at = start;
  for (let shift = 0;; shift += 7) {
    const byte = bytes[at++];
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) return [value >>> 0, at];
  }
}

function leb(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...leb(value >>> 7)];
}
