// What do two nodes say to each other when their tables differ?
//
//   [1, root]                                 what I hold, said when it changes
//   [2, root, bucketHashes]                   where do we differ?
//   [3, root, buckets, from, to, heads, isLast]  my heads in these buckets, owners in [from, to)
//   [4, heads]                                I have these, newer than yours
//   [5, owners]                               give me these
//   [6, envelopes, isLast]                    here they are
//   [7, envelope]                             look what I hold of you, or of somebody: unasked
//
// A root is 8 bytes, bucketHashes 256 × 8, buckets a bit set of 32 bytes, a head [owner, epoch, seq, hash],
// an empty `to` means without end. Other types are skipped, so that later versions may add some.
import { decodeCbor } from "../base/cbor.ts";
import { OtelaError } from "../base/errors.ts";
import { isPeerId, type PeerId } from "../base/peer_id.ts";
import { fromHex, toHex } from "./bytes.ts";
import { bucketCount, bucketHashesBytes } from "./digest.ts";
import { envelopeBytesMax } from "./envelope.ts";
import type { EnvelopeHead } from "./order.ts";
import { frameSyncMessage, syncMessageBytesMax } from "./sync_frames.ts";

/** The part of a table that a `heads` message describes whole. */
export type HeadRange = {
  readonly buckets: readonly number[];
  /** First owner; empty for all from the start. */
  readonly from: string;
  /** The first owner beyond; empty for all to the end. */
  readonly to: string;
};

export type SyncMessage =
  | { readonly type: "root"; readonly root: string }
  | { readonly type: "buckets"; readonly root: string; readonly hashes: Uint8Array }
  | {
    readonly type: "heads";
    readonly root: string;
    readonly range: HeadRange;
    readonly heads: readonly EnvelopeHead[];
    readonly isLast: boolean;
  }
  | { readonly type: "offer"; readonly heads: readonly EnvelopeHead[] }
  | { readonly type: "want"; readonly owners: readonly PeerId[] }
  | {
    readonly type: "envelopes";
    readonly envelopes: readonly Uint8Array[];
    readonly isLast: boolean;
  }
  | { readonly type: "show"; readonly envelope: Uint8Array };

/** Heads in one message; 400 of 100 bytes stay below the bound of a message. */
export const headsPerMessageMax = 400;
/** Owners in one `want`: their honest claims fill about half a message, and take about 20 ms to load. */
export const ownersPerWantMax = 32;

/** The framed bytes of a message of our own. */
export function encodeSyncMessage(message: SyncMessage): Uint8Array {
  switch (message.type) {
    case "root":
      return frameSyncMessage([1, fromHex(message.root)]);
    case "buckets":
      return frameSyncMessage([2, fromHex(message.root), message.hashes]);
    case "heads": {
      const { root, range: { buckets, from, to }, heads, isLast } = message;
      const bits = encodeBuckets(buckets);
      return frameSyncMessage([3, fromHex(root), bits, from, to, heads.map(encodeHead), isLast]);
    }
    case "offer":
      return frameSyncMessage([4, message.heads.map(encodeHead)]);
    case "want":
      return frameSyncMessage([5, message.owners]);
    case "envelopes":
      return frameSyncMessage([6, message.envelopes, message.isLast]);
    case "show":
      return frameSyncMessage([7, message.envelope]);
  }
}

/**
 * Reads one message.
 * @param bytes Untrusted, without the length.
 * @returns `undefined` for a type that we do not know.
 * @throws {OtelaError} `bad_request` when a known message has another form: end the stream.
 */
export function decodeSyncMessage(bytes: Uint8Array): SyncMessage | undefined {
  const parts = decodeCbor(bytes, syncMessageBytesMax);
  if (!Array.isArray(parts)) throw malformed("a list");
  switch (parts[0]) {
    case 1:
      return { type: "root", root: root(parts[1]) };
    case 2:
      return {
        type: "buckets",
        root: root(parts[1]),
        hashes: exactly(parts[2], bucketHashesBytes),
      };
    case 3: {
      const range = {
        buckets: decodeBuckets(exactly(parts[2], bucketCount / 8)),
        from: text(parts[3]),
        to: text(parts[4]),
      };
      const isLast = parts[6] === true;
      return { type: "heads", root: root(parts[1]), range, heads: heads(parts[5]), isLast };
    }
    case 4:
      return { type: "offer", heads: heads(parts[1]) };
    case 5:
      return { type: "want", owners: list(parts[1], ownersPerWantMax).map(owner) };
    case 6: {
      const envelopes = list(parts[1], syncMessageBytesMax).map(envelope);
      return { type: "envelopes", envelopes, isLast: parts[2] === true };
    }
    case 7:
      return { type: "show", envelope: envelope(parts[1]) };
    default:
      return undefined;
  }
}

function encodeHead({ owner, epoch, seq, hash }: EnvelopeHead): unknown[] {
  return [owner, epoch, seq, fromHex(hash)];
}

function encodeBuckets(buckets: readonly number[]): Uint8Array {
  const bits = new Uint8Array(bucketCount / 8);
  for (const bucket of buckets) bits[bucket >> 3] |= 1 << (bucket & 7);
  return bits;
}

function decodeBuckets(bits: Uint8Array): number[] {
  const buckets: number[] = [];
  for (let bucket = 0; bucket < bucketCount; bucket++) {
    if (bits[bucket >> 3] & (1 << (bucket & 7))) buckets.push(bucket);
  }
  return buckets;
}

function heads(value: unknown): EnvelopeHead[] {
  return list(value, headsPerMessageMax).map((item) => {
    const [peer, epoch, seq, hash] = list(item, 4);
    return {
      owner: owner(peer),
      epoch: count(epoch),
      seq: count(seq),
      hash: toHex(exactly(hash, 32)),
    };
  });
}

function list(value: unknown, countMax: number): unknown[] {
  if (Array.isArray(value) && value.length <= countMax) return value;
  throw malformed(`lists of at most ${countMax}`);
}

function owner(value: unknown): PeerId {
  if (typeof value === "string" && isPeerId(value)) return value;
  throw malformed("PeerIds as owners");
}

function count(value: unknown): number {
  if (Number.isSafeInteger(value) && Number(value) >= 0) return Number(value);
  throw malformed("counts of at most 53 bit");
}

function text(value: unknown): string {
  if (typeof value === "string" && value.length <= 64) return value;
  throw malformed("short texts as bounds");
}

function root(value: unknown): string {
  return toHex(exactly(value, 8));
}

function exactly(value: unknown, length: number): Uint8Array {
  if (value instanceof Uint8Array && value.byteLength === length) return value;
  throw malformed(`${length} bytes`);
}

function envelope(value: unknown): Uint8Array {
  if (value instanceof Uint8Array && value.byteLength <= envelopeBytesMax) return value;
  throw malformed(`envelopes of at most ${envelopeBytesMax} bytes`);
}

function malformed(rule: string): OtelaError {
  return new OtelaError("bad_request", `Cannot read a sync message as it must have ${rule}`);
}
