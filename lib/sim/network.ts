// Which messages arrive, and when?
import type { Random } from "../base/ports.ts";
import type { Ms } from "../base/units.ts";

/** What the network does to messages; chances from 0 to 1. */
export type NetworkFaults = {
  readonly latencyMs: { readonly min: Ms; readonly max: Ms };
  readonly lossRate: number;
  readonly duplicateRate: number;
  /** Messages that take up to ten times as long, so that later ones overtake them. */
  readonly reorderRate: number;
};

/** A network between numbered nodes that can be split, cut in one direction, and healed. */
export class Network {
  faults: NetworkFaults;
  /** When paths were last broken or mended: what nodes say of each other is about an older world for a while. */
  changedAtMs: Ms = -Infinity;
  readonly #side = new Map<number, number>();
  readonly #cut = new Set<string>();

  constructor(faults: NetworkFaults, private readonly random: Random) {
    this.faults = faults;
  }

  get isBroken(): boolean {
    return this.#side.size > 0 || this.#cut.size > 0;
  }

  /** Whether a message from one node can reach another. */
  isOpen(from: number, to: number): boolean {
    if (this.#side.size > 0 && (this.#side.get(from) ?? 0) !== (this.#side.get(to) ?? 0)) {
      return false;
    }
    return this.#cut.size === 0 || !this.#cut.has(`${from}>${to}`);
  }

  /** Puts nodes on another side; those on no side are together on one. */
  split(nodes: Iterable<number>, nowMs: Ms): void {
    for (const node of nodes) this.#side.set(node, 1);
    this.changedAtMs = nowMs;
  }

  /** Nothing gets from one node to another any more; the other direction works. */
  cut(from: number, to: number, nowMs: Ms): void {
    this.#cut.add(`${from}>${to}`);
    this.changedAtMs = nowMs;
  }

  /** Ends one cut. */
  mend(from: number, to: number, nowMs: Ms): void {
    if (this.#cut.delete(`${from}>${to}`)) this.changedAtMs = nowMs;
  }

  /** Ends the split; cuts stay. */
  rejoin(nowMs: Ms): void {
    if (this.#side.size === 0) return;
    this.#side.clear();
    this.changedAtMs = nowMs;
  }

  heal(nowMs: Ms): void {
    if (!this.isBroken) return;
    this.#side.clear();
    this.#cut.clear();
    this.changedAtMs = nowMs;
  }

  /** How long one message takes. */
  delayMs(): Ms {
    const { latencyMs: { min, max }, reorderRate } = this.faults;
    const delayMs = min + this.random() * (max - min);
    return reorderRate > 0 && this.random() < reorderRate
      ? delayMs * (1 + 9 * this.random())
      : delayMs;
  }

  /** How often a message arrives: seldom 0 or 2. */
  copies(): 0 | 1 | 2 {
    const { lossRate, duplicateRate } = this.faults;
    if (lossRate > 0 && this.random() < lossRate) return 0;
    return duplicateRate > 0 && this.random() < duplicateRate ? 2 : 1;
  }
}
