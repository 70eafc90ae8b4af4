// Do two nodes agree on who has left?
import type { PeerId } from "../base/peer_id.ts";
import type { Incarnation } from "./incarnation.ts";

/** So many that a comparison is one small message of 320 bytes, and a few differences are found without the rest. */
export const digestBucketCount = 64;

/**
 * A set of (peer, incarnation) as 64 numbers of 32 bits, changed by one XOR each. Equal sets have equal digests; that
 * two different ones have is a chance of 2⁻³² that ends with the next change.
 */
export class DepartedDigest {
  readonly #buckets = new Uint32Array(digestBucketCount);
  #root: number | undefined;

  /** Adds an entry, or takes it out again when it is in. */
  toggle(peer: PeerId, { epoch, counter }: Incarnation): void {
    this.#buckets[bucketOf(peer)] ^= hashOf(`${peer}/${epoch}/${counter}`);
    this.#root = undefined;
  }

  /** 32 bits; 0 when nobody has left. */
  get root(): number {
    return this.#root ??= rootOf(this.#buckets);
  }

  /** A copy. */
  buckets(): number[] {
    return [...this.#buckets];
  }

  /** Buckets that differ. @param theirs Shorter lists count as empty beyond their end. */
  differing(theirs: readonly number[]): Set<number> {
    const found = new Set<number>();
    for (let at = 0; at < digestBucketCount; at++) {
      if (this.#buckets[at] !== (theirs[at] ?? 0)) found.add(at);
    }
    return found;
  }
}

/** The bucket of a peer: the same on every node. */
export function bucketOf(peer: PeerId): number {
  return hashOf(peer) % digestBucketCount;
}

function rootOf(buckets: Uint32Array): number {
  let root = 0;
  for (let at = 0; at < buckets.length; at++) {
    if (buckets[at] !== 0) root ^= Math.imul(buckets[at] ^ at, 0x9e3779b1) ^ (buckets[at] >>> 15);
  }
  return root >>> 0;
}

/** FNV-1a, with the finalizer of MurmurHash3, as FNV alone leaves its high bits poor. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
