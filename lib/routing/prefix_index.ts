// Who has served a request that began like this one?
import type { PeerId } from "../base/peer_id.ts";
import type { Bytes } from "../base/units.ts";
import type { PromptBlocks } from "./policies/types.ts";

/** A block of a request's body. Engines cache by 16 or so tokens, about as many bytes as this; a guess. */
export const blockBytes: Bytes = 64;
/** Blocks of one request that count: a prompt of 64 KiB. Later ones hardly ever decide who has it; a guess. */
export const blocksMax = 1_024;
/** Blocks remembered, about 100 bytes each; the least lately used make room. A guess: 2,000 long conversations. */
export const indexBlocksMax = 200_000;
/** Peers remembered for a block; the latest count. A guess. */
const holdersMax = 4;
/** From so many different continuations on, a block is what many requests share, such as a system prompt. A guess. */
export const sharedFrom = 3;

/**
 * The blocks of a request: for each the hash of all bytes up to its end, so that two requests have a block in
 * common exactly when they are equal up to there (but for collisions of 2⁻⁵², which cost one cache miss). An
 * unfinished block at the end does not count. Linear, about 1 ns a byte.
 */
export function blocksOf(body: Uint8Array): PromptBlocks {
  const count = Math.min(blocksMax, Math.floor(body.length / blockBytes));
  const blocks: number[] = new Array(count);
  // Two FNV-1a hashes side by side.
  let low = 0x811c9dc5;
  let high = 0x050c5d1f;
  for (let index = 0; index < count; index++) {
    const end = (index + 1) * blockBytes;
    for (let at = index * blockBytes; at < end; at++) {
      low = Math.imul(low ^ body[at], 0x01000193);
      high = Math.imul(high ^ body[at], 0x01000197);
    }
    blocks[index] = (low >>> 0) + ((high >>> 12) * 0x1_0000_0000);
  }
  return blocks;
}

/** What is known of one block. */
type Entry = {
  /** Latest first. */
  holders: PeerId[];
  /** The block that followed it last; 0 when none did. */
  next: number;
  /** How often it was followed by another one than before. */
  branchCount: number;
};

/** The deepest that a request has in common with earlier ones. */
export type PrefixMatch = {
  /** Blocks in common. */
  readonly depth: number;
  /** Who has them, latest first. */
  readonly holders: readonly PeerId[];
  /** Many requests went on differently here, so this says little of who has the rest. */
  readonly isShared: boolean;
};

const noMatch: PrefixMatch = { depth: 0, holders: [], isShared: true };

/**
 * An approximate picture of the prefix caches of all engines, from what this node has sent them. Bounded; wrong
 * wherever an engine has forgotten or another head has sent, which costs a cache miss and nothing else.
 */
export class PrefixIndex {
  /** In the order of last use. */
  readonly #entries = new Map<number, Entry>();

  constructor(private readonly entriesMax: number = indexBlocksMax) {}

  /** The deepest block of the request that is known. Logarithmic in its blocks: what has a block has those before. */
  match(blocks: PromptBlocks): PrefixMatch {
    let known = 0;
    let unknown = blocks.length + 1;
    while (unknown - known > 1) {
      const middle = (known + unknown) >> 1;
      if (this.#entries.has(blocks[middle - 1])) known = middle;
      else unknown = middle;
    }
    if (known === 0) return noMatch;
    const { holders, branchCount } = this.#entries.get(blocks[known - 1])!;
    return { depth: known, holders, isShared: branchCount >= sharedFrom };
  }

  /** The request goes to this peer. Linear in its blocks. */
  served(blocks: PromptBlocks, peer: PeerId): void {
    // From the end, so that the beginning is the latest used: it is forgotten last, and `match` may halve.
    for (let index = blocks.length - 1; index >= 0; index--) {
      this.#note(blocks[index], blocks[index + 1] ?? 0, peer);
    }
    while (this.#entries.size > this.entriesMax) {
      this.#entries.delete(this.#entries.keys().next().value!);
    }
  }

  /** Blocks remembered. */
  get size(): number {
    return this.#entries.size;
  }

  #note(block: number, next: number, peer: PeerId): void {
    let entry = this.#entries.get(block);
    if (entry) this.#entries.delete(block);
    else entry = { holders: [], next, branchCount: 0 };
    this.#entries.set(block, entry);
    if (next !== 0 && entry.next !== next) {
      if (entry.next !== 0) entry.branchCount++;
      entry.next = next;
    }
    if (entry.holders[0] === peer) return;
    const holders = [peer, ...entry.holders.filter((holder) => holder !== peer)];
    entry.holders = holders.slice(0, holdersMax);
  }
}
