// How does the registry survive a restart?
//
// CBOR [checksum, body]; checksum = SHA-256 of body; body = CBOR [version, envelopes, floors], a floor being
// [envelope, keptS]. Leases and floors are seconds that remain, as no clock goes on while a node is down.
import { sha256 } from "@noble/hashes/sha2.js";
import { decodeCbor, encodeCbor } from "../base/cbor.ts";
import { OtelaError } from "../base/errors.ts";
import { type Bytes, MiB } from "../base/units.ts";
import { toHex } from "./bytes.ts";
import { envelopeBytesMax } from "./envelope.ts";
import { floorKeptMs, floorsMax } from "./floors.ts";

/** 10,000 honest claims of 1 KiB and 20,000 floors fit four times over. */
export const snapshotBytesMax: Bytes = 64 * MiB;
const snapshotVersion = 1;
const envelopesMax = 100_000;
const keptSMax = floorKeptMs / 1_000;

/** What a snapshot holds; its envelopes are checked like any from outside when they are restored. */
export type Snapshot = {
  readonly envelopes: readonly Uint8Array[];
  readonly floors: readonly { readonly envelope: Uint8Array; readonly keptS: number }[];
};

export const emptySnapshot: Snapshot = { envelopes: [], floors: [] };

/** The bytes of a snapshot file. */
export function encodeSnapshot({ envelopes, floors }: Snapshot): Uint8Array {
  const pairs = floors.map(({ envelope, keptS }) => [envelope, keptS]);
  const body = encodeCbor([snapshotVersion, envelopes, pairs]);
  return encodeCbor([sha256(body), body]);
}

/**
 * Reads a snapshot file.
 * @param bytes Untrusted: files get cut and disks fill.
 * @throws {OtelaError} `bad_request` when the bytes are not a whole snapshot of this version.
 */
export function decodeSnapshot(bytes: Uint8Array): Snapshot {
  const [checksum, body] = listOf(decodeCbor(bytes, snapshotBytesMax), 2);
  if (!(checksum instanceof Uint8Array) || !(body instanceof Uint8Array)) {
    throw damaged("its frame");
  }
  if (toHex(sha256(body)) !== toHex(checksum)) throw damaged("its checksum");
  const [version, envelopes, pairs] = listOf(decodeCbor(body, snapshotBytesMax), 3);
  if (version !== snapshotVersion) throw damaged(`version ${snapshotVersion}`);
  if (!Array.isArray(envelopes) || envelopes.length > envelopesMax) throw damaged("its envelopes");
  if (!Array.isArray(pairs) || pairs.length > floorsMax) throw damaged("its floors");
  if (!envelopes.every(isEnvelope)) throw damaged("its envelopes");
  const floors = pairs.map((pair) => {
    const [envelope, keptS] = listOf(pair, 2);
    if (!isEnvelope(envelope) || !Number.isSafeInteger(keptS)) throw damaged("its floors");
    return { envelope, keptS: Math.min(Math.max(Number(keptS), 0), keptSMax) };
  });
  return { envelopes, floors };
}

function isEnvelope(value: unknown): value is Uint8Array {
  return value instanceof Uint8Array && value.byteLength <= envelopeBytesMax;
}

function listOf(value: unknown, length: number): unknown[] {
  if (Array.isArray(value) && value.length === length) return value;
  throw damaged(`a list of ${length}`);
}

function damaged(what: string): OtelaError {
  return new OtelaError(
    "bad_request",
    `Cannot read a registry snapshot as it must have ${what} whole`,
  );
}
