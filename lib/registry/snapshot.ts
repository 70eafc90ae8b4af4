// How does the registry survive a restart?
//
// "otela-snapshot-1", then records of u32 length (big-endian) and CBOR, [envelope] or [envelope, keptS] for a
// floor, then the SHA-256 of all before. Leases and floors are seconds that remain, as no clock of ours goes on
// while a node is down. Written in parts, since a table of 10,000 takes 100 ms to encode.
import { sha256 } from "@noble/hashes/sha2.js";
import { decodeCbor, encodeCbor } from "../base/cbor.ts";
import { OtelaError } from "../base/errors.ts";
import { type Bytes, KiB, MiB } from "../base/units.ts";
import { concatBytes } from "../base/concat_bytes.ts";
import { toHex } from "./bytes.ts";
import { envelopeBytesMax } from "./envelope.ts";
import { floorKeptMs, floorsMax } from "./floors.ts";

/** 10,000 honest claims of 1 KiB and 20,000 floors fit four times over. */
export const snapshotBytesMax: Bytes = 64 * MiB;
const magic = new TextEncoder().encode("otela-snapshot-1");
const checksumBytes = 32;
const lengthBytes = 4;
const recordBytesMax: Bytes = envelopeBytesMax + KiB;
const partBytes: Bytes = 32 * KiB;
const keptSMax = floorKeptMs / 1_000;

/** The signed part of an ended claim, and for how many seconds more it is remembered. */
export type FloorRecord = { readonly envelope: Uint8Array; readonly keptS: number };

/** What a snapshot holds; its envelopes are checked like any from outside when they are restored. */
export type Snapshot = {
  readonly envelopes: Iterable<Uint8Array>;
  readonly floors: Iterable<FloorRecord>;
};

export const emptySnapshot: Snapshot = { envelopes: [], floors: [] };

/** The bytes of a snapshot file in parts of about 32 KiB, each less than a millisecond's work. */
export function* encodeSnapshot(snapshot: Snapshot): Generator<Uint8Array, void> {
  const hash = sha256.create();
  let waiting: Uint8Array[] = [magic];
  let waitingBytes = magic.byteLength;
  let allBytes = magic.byteLength + checksumBytes;
  const flush = () => {
    const part = concatBytes(waiting);
    hash.update(part);
    waiting = [];
    waitingBytes = 0;
    return part;
  };
  for (const record of recordsOf(snapshot)) {
    const body = encodeCbor(record);
    allBytes += lengthBytes + body.byteLength;
    if (allBytes > snapshotBytesMax) break; // What is left out comes back with the first sync.
    const length = new Uint8Array(lengthBytes);
    new DataView(length.buffer).setUint32(0, body.byteLength);
    waiting.push(length, body);
    waitingBytes += lengthBytes + body.byteLength;
    if (waitingBytes >= partBytes) yield flush();
  }
  yield flush();
  yield hash.digest();
}

/**
 * Reads a snapshot file.
 * @param bytes Untrusted: files get cut and disks fill.
 * @throws {OtelaError} `bad_request` when the bytes are not one whole snapshot of this version.
 */
export function decodeSnapshot(bytes: Uint8Array): Snapshot {
  if (bytes.byteLength > snapshotBytesMax) throw damaged(`at most ${snapshotBytesMax} bytes`);
  const end = bytes.byteLength - checksumBytes;
  if (end < magic.byteLength) throw damaged("its checksum");
  const body = bytes.subarray(0, end);
  if (toHex(sha256(body)) !== toHex(bytes.subarray(end))) throw damaged("its checksum");
  if (toHex(body.subarray(0, magic.byteLength)) !== toHex(magic)) throw damaged("this version");
  const view = new DataView(body.buffer, body.byteOffset, body.byteLength);
  const envelopes: Uint8Array[] = [];
  const floors: FloorRecord[] = [];
  for (let at = magic.byteLength; at < end;) {
    if (end - at < lengthBytes) throw damaged("whole records");
    const length = view.getUint32(at);
    at += lengthBytes;
    if (length > end - at) throw damaged("whole records");
    const { envelope, keptS } = decodeRecord(body.subarray(at, at + length));
    if (keptS === undefined) envelopes.push(envelope);
    else if (floors.length < floorsMax) floors.push({ envelope, keptS });
    at += length;
  }
  return { envelopes, floors };
}

function* recordsOf({ envelopes, floors }: Snapshot): Generator<unknown[], void> {
  for (const { envelope, keptS } of floors) yield [envelope, keptS];
  for (const envelope of envelopes) yield [envelope];
}

function decodeRecord(bytes: Uint8Array): { envelope: Uint8Array; keptS: number | undefined } {
  const record = decodeCbor(bytes, recordBytesMax);
  const [envelope, keptS] = Array.isArray(record) ? record : [];
  if (!(envelope instanceof Uint8Array) || envelope.byteLength > envelopeBytesMax) {
    throw damaged("envelopes in its records");
  }
  if (keptS === undefined) return { envelope, keptS };
  if (!Number.isSafeInteger(keptS)) throw damaged("seconds in its floors");
  return { envelope, keptS: Math.min(Math.max(keptS, 0), keptSMax) };
}

function damaged(what: string): OtelaError {
  return new OtelaError("bad_request", `Cannot read a registry snapshot as it must have ${what}`);
}
