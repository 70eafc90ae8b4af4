// Who stands near whom, so that everybody agrees who watches a peer?
import type { PeerId } from "../base/peer_id.ts";
import { authorityRankMax } from "./defaults.ts";

/** As far as accusers are looked for among the nearest; beyond that nearly all of them have left. A guess. */
const nearestMax = 4 * authorityRankMax;
/** Lists of nearest peers kept between two changes of the roster. */
const listsMax = 4_096;

/**
 * Peers with a claim, and their distances by rendezvous hash (Thaler, Ravishankar 1998): every node that holds the
 * same claims finds the same watchers, and a peer that comes or goes changes only its own neighbours'.
 * The hash is cheap and known to all. Who makes identities until they stand near a victim gains two accusations
 * against it, which its own answers to probes refute.
 */
export class Roster {
  readonly #hashes = new Map<PeerId, number>();
  readonly #nearest = new Map<PeerId, readonly PeerId[]>();

  /** Raised by every peer that comes or goes. */
  version = 0;

  has(peer: PeerId): boolean {
    return this.#hashes.has(peer);
  }

  get size(): number {
    return this.#hashes.size;
  }

  /** Peers and their hashes, in the order in which they came. */
  entries(): IterableIterator<[PeerId, number]> {
    return this.#hashes.entries();
  }

  hashOf(peer: PeerId): number {
    return this.#hashes.get(peer) ?? hashOf(peer);
  }

  /** @returns Whether it is new. */
  add(peer: PeerId): boolean {
    if (this.#hashes.has(peer)) return false;
    this.#hashes.set(peer, hashOf(peer));
    this.#nearest.clear();
    this.version++;
    return true;
  }

  /** @returns Whether it was there. */
  remove(peer: PeerId): boolean {
    if (!this.#hashes.delete(peer)) return false;
    this.#nearest.clear();
    this.version++;
    return true;
  }

  /**
   * The nearest peers of a target that are not out, nearest first.
   * @param isOut Asked for a few peers; those who have left watch nobody.
   */
  watchersOf(target: PeerId, countMax: number, isOut: (peer: PeerId) => boolean): PeerId[] {
    const found: PeerId[] = [];
    for (const peer of this.#listOf(target)) {
      if (isOut(peer)) continue;
      found.push(peer);
      if (found.length === countMax) return found;
    }
    if (this.#hashes.size <= nearestMax + 1) return found;
    // Nearly everybody near it has left, as in the smaller part of a split mesh: all others count.
    return this.#sorted(target, (peer) => !isOut(peer)).slice(0, countMax);
  }

  #listOf(target: PeerId): readonly PeerId[] {
    const known = this.#nearest.get(target);
    if (known) return known;
    if (this.#nearest.size >= listsMax) this.#nearest.clear();
    const list = this.#sorted(target, () => true).slice(0, nearestMax);
    this.#nearest.set(target, list);
    return list;
  }

  #sorted(target: PeerId, isIn: (peer: PeerId) => boolean): PeerId[] {
    const targetHash = this.hashOf(target);
    const all: { peer: PeerId; distance: number }[] = [];
    for (const [peer, hash] of this.#hashes) {
      if (peer !== target && isIn(peer)) all.push({ peer, distance: distanceOf(hash, targetHash) });
    }
    all.sort((a, b) => a.distance - b.distance || (a.peer < b.peer ? -1 : 1));
    return all.map(({ peer }) => peer);
  }
}

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}

/**
 * Distance of a watcher from a target, by their hashes: 32 bits, uniform. The finalizer of MurmurHash3, so that
 * neighbours of one peer are not neighbours of the other.
 */
export function distanceOf(watcher: number, target: number): number {
  let hash = watcher ^ Math.imul(target, 0x9e3779b1);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
