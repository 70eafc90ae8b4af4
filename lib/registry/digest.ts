// Do two tables hold the same claims, and if not, where do they differ?
import { sha256 } from "@noble/hashes/sha2.js";
import type { PeerId } from "../base/peer_id.ts";
import { toHex } from "./bytes.ts";
import type { EnvelopeHead } from "./order.ts";

/** Owners fall into this many buckets; 2 KiB of hashes find the tenth of a mesh of 1,000 that differs. */
export const bucketCount = 256;
const bucketBytes = 8;
export const bucketHashesBytes = bucketCount * bucketBytes;

/** The bucket of an owner (FNV-1a of its PeerId): the same on every node. */
export function bucketOf(owner: PeerId): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < owner.length; at++) {
    hash = Math.imul(hash ^ owner.charCodeAt(at), 0x01000193);
  }
  return (hash ^ (hash >>> 8) ^ (hash >>> 16) ^ (hash >>> 24)) & 0xff;
}

/**
 * Hashes of a set of heads, kept up to date by one XOR per change.
 * XOR lets somebody who owns many identities search for two sets with one hash (64 bit: billions of
 * signatures). All it would hide is that node's own claims, so the cheap form is enough.
 */
export class TableDigest {
  readonly #buckets = new Uint8Array(bucketHashesBytes);
  #root: string | undefined;

  /** Adds a head, or takes it out again when it is in. */
  toggle(head: EnvelopeHead): void {
    const text = `${head.owner}/${head.epoch}/${head.seq}/${head.hash}`;
    const hash = sha256(encoder.encode(text));
    const start = bucketOf(head.owner) * bucketBytes;
    for (let at = 0; at < bucketBytes; at++) this.#buckets[start + at] ^= hash[at];
    this.#root = undefined;
  }

  /** 8 bytes as 16 hexadecimal digits; equal exactly when the tables are. Cached until the next change. */
  get root(): string {
    this.#root ??= toHex(sha256(this.#buckets).subarray(0, 8));
    return this.#root;
  }

  /** A copy of all bucket hashes, 8 bytes each. */
  bucketHashes(): Uint8Array {
    return this.#buckets.slice();
  }

  /**
   * Buckets whose hash differs, ascending.
   * @param theirs Exactly `bucketHashesBytes` long.
   */
  differingBuckets(theirs: Uint8Array): number[] {
    const differing: number[] = [];
    for (let bucket = 0; bucket < bucketCount; bucket++) {
      const start = bucket * bucketBytes;
      for (let at = start; at < start + bucketBytes; at++) {
        if (this.#buckets[at] === theirs[at]) continue;
        differing.push(bucket);
        break;
      }
    }
    return differing;
  }
}

const encoder = new TextEncoder();
