// Whom does this node watch?
import type { PeerId } from "../base/peer_id.ts";
import { watchersMax } from "./defaults.ts";
import { distanceOf, type Roster } from "./roster.ts";

/**
 * Only peers that are so near are followed: with 16 nearer ones expected, fewer than three have a chance of
 * 1.6 · 10⁻⁵, and then that peer has one watcher less until the list is made anew.
 */
const expectedNearerMax = 16;
/** The list is made anew when this part of those it was made from is left, or when they have doubled. A guess. */
const shrunkShare = 0.75;

/** A peer that we may have to watch, and how many stand nearer to it than we do. */
type Target = { readonly hash: number; readonly distance: number; nearerCount: number };

/**
 * Peers for which this node is among the nearest. Kept up to date at about 16 comparisons per peer that comes or goes;
 * made anew, at 17 comparisons per peer of the mesh (0.2 ms for 1,000), when many have.
 */
export class WatchList {
  /** In the order of the roster. */
  readonly #targets = new Map<PeerId, Target>();
  readonly #selfHash: number;
  #builtCount = -1;
  /** Of the roster; simulated nodes share one, so it also changes by others' hands. */
  #version = 0;
  #presentCount = 0;
  #threshold = 0;
  #watched: readonly PeerId[] | undefined;

  /** @param isOut Who has left watches nobody and is watched by nobody. */
  constructor(
    readonly self: PeerId,
    readonly roster: Roster,
    readonly isOut: (peer: PeerId) => boolean,
  ) {
    this.#selfHash = roster.hashOf(self);
  }

  /** Watched peers. The same array until something changes. */
  get watched(): readonly PeerId[] {
    if (this.#isOld) this.#build();
    return this.#watched ??= this.#select();
  }

  /** A peer came into the roster, or is back. Call it when `isOut` is already false. */
  entered(peer: PeerId): void {
    if (peer === this.self) return;
    if (this.roster.version === this.#version + 1) this.#version++;
    this.#presentCount++;
    if (this.#isOld) return;
    const hash = this.roster.hashOf(peer);
    this.#shift(peer, hash, 1);
    const distance = distanceOf(this.#selfHash, hash);
    if (distance < this.#threshold) this.#targets.set(peer, this.#targetOf(peer, hash, distance));
    this.#watched = undefined;
  }

  /** A peer left, or its claim is gone. */
  exited(peer: PeerId): void {
    if (peer === this.self) return;
    if (this.roster.version === this.#version + 1) this.#version++;
    this.#presentCount--;
    if (this.#isOld) return;
    this.#targets.delete(peer);
    this.#shift(peer, this.roster.hashOf(peer), -1);
    this.#watched = undefined;
  }

  get #isOld(): boolean {
    return this.#version !== this.roster.version ||
      this.#presentCount < shrunkShare * this.#builtCount ||
      this.#presentCount > 2 * this.#builtCount;
  }

  #build(): void {
    const present = [...this.roster.entries()]
      .filter(([peer]) => peer !== this.self && !this.isOut(peer));
    this.#targets.clear();
    this.#version = this.roster.version;
    this.#builtCount = this.#presentCount = present.length;
    this.#threshold = present.length <= expectedNearerMax
      ? Infinity
      : (expectedNearerMax / present.length) * 2 ** 32;
    for (const [peer, hash] of present) {
      const distance = distanceOf(this.#selfHash, hash);
      if (distance < this.#threshold) this.#targets.set(peer, { hash, distance, nearerCount: 0 });
    }
    for (const [peer, hash] of present) this.#shift(peer, hash, 1);
    this.#watched = undefined;
  }

  #targetOf(target: PeerId, hash: number, distance: number): Target {
    let nearerCount = 0;
    for (const [other, otherHash] of this.roster.entries()) {
      if (other === target || other === this.self || this.isOut(other)) continue;
      if (this.#isNearer(other, distanceOf(otherHash, hash), distance)) nearerCount++;
    }
    return { hash, distance, nearerCount };
  }

  #shift(other: PeerId, otherHash: number, by: number): void {
    for (const [peer, target] of this.#targets) {
      if (peer === other) continue;
      if (this.#isNearer(other, distanceOf(otherHash, target.hash), target.distance)) {
        target.nearerCount += by;
      }
    }
  }

  #isNearer(other: PeerId, theirs: number, ours: number): boolean {
    return theirs < ours || (theirs === ours && other < this.self);
  }

  #select(): PeerId[] {
    const watched: PeerId[] = [];
    for (const [peer, { nearerCount }] of this.#targets) {
      if (nearerCount < watchersMax) watched.push(peer);
    }
    return watched;
  }
}
