// What do we tell a peer of our table, and what of it does the peer lack?
import { compareHeads, type EnvelopeHead } from "./order.ts";
import { type HeadRange, headsPerMessageMax, type SyncMessage } from "./sync_messages.ts";
import type { SyncTable } from "./sync_table.ts";

const offersMax = 20_000;

/** One session's answers to `buckets`, and its offers. */
export class SyncDescriber {
  #toDescribe: HeadRange[] = [];
  /** Whether a `heads` message is due even when no bucket differs: the peer waits for the last one. */
  #isAsked = false;
  #offers: EnvelopeHead[] = [];

  constructor(readonly table: SyncTable) {}

  /** Whether offers wait. */
  get hasOffers(): boolean {
    return this.#offers.length > 0;
  }

  /** The peer asks where we differ; a former question is forgotten. */
  asked(theirHashes: Uint8Array): void {
    this.#isAsked = true;
    this.#toDescribe = this.table.differingBuckets(theirHashes)
      .map((bucket) => ({ buckets: [bucket], from: "", to: "" }));
  }

  /** The peer has described a part of its table: what it lacks of ours is offered. */
  heard({ buckets, from, to }: HeadRange, theirs: readonly EnvelopeHead[]): void {
    const theirsByOwner = new Map(theirs.map((head) => [head.owner, head]));
    for (const ours of buckets.flatMap((bucket) => this.table.headsIn(bucket))) {
      if (ours.owner < from || (to !== "" && ours.owner >= to)) continue;
      const known = theirsByOwner.get(ours.owner);
      if (!known || compareHeads(ours, known) > 0) this.#offers.push(ours);
    }
    if (this.#offers.length > offersMax) this.#offers.length = offersMax;
  }

  /** The next part of our table; `undefined` when nothing is asked. */
  nextHeads(): SyncMessage | undefined {
    if (!this.#isAsked) return undefined;
    const part = this.#nextPart();
    const isLast = this.#toDescribe.length === 0;
    if (isLast) this.#isAsked = false;
    return { type: "heads", root: this.table.root, ...part, isLast };
  }

  /** The next offers; `undefined` when there are none. */
  nextOffer(): SyncMessage | undefined {
    if (!this.hasOffers) return undefined;
    return { type: "offer", heads: this.#offers.splice(0, headsPerMessageMax) };
  }

  /** Whole buckets as long as they fit; one that does not fit is cut by owner and goes alone. */
  #nextPart(): { range: HeadRange; heads: EnvelopeHead[] } {
    const buckets: number[] = [];
    const heads: EnvelopeHead[] = [];
    while (this.#toDescribe.length > 0) {
      const { buckets: [bucket], from } = this.#toDescribe[0];
      const found = this.table.headsIn(bucket).filter(({ owner }) => owner >= from);
      const isLarge = found.length > headsPerMessageMax;
      if (buckets.length === 0 && (isLarge || from !== "")) {
        const to = isLarge ? found[headsPerMessageMax].owner : "";
        if (isLarge) this.#toDescribe[0] = { buckets: [bucket], from: to, to: "" };
        else this.#toDescribe.shift();
        const range = { buckets: [bucket], from, to };
        return { range, heads: found.slice(0, headsPerMessageMax) };
      }
      if (isLarge || heads.length + found.length > headsPerMessageMax) break;
      this.#toDescribe.shift();
      buckets.push(bucket);
      heads.push(...found);
    }
    return { range: { buckets, from: "", to: "" }, heads };
  }
}
