// How do two nodes come to hold the same claims?
import { OtelaError } from "../base/errors.ts";
import type { PeerId } from "../base/peer_id.ts";
import { type Bytes, KiB, type Ms, secondMs } from "../base/units.ts";
import { compareHeads, type EnvelopeHead } from "./order.ts";
import type { Registry } from "./registry.ts";
import { SyncFrameReader } from "./sync_frames.ts";
import {
  decodeSyncMessage,
  encodeSyncMessage,
  type HeadRange,
  headsPerMessageMax,
  ownersPerWantMax,
  type SyncMessage,
} from "./sync_messages.ts";

/** What a session reads of the registry. */
export type SyncTable = Pick<
  Registry,
  | "root"
  | "backlogCount"
  | "mayWant"
  | "bucketHashes"
  | "differingBuckets"
  | "headsIn"
  | "envelopeOf"
  | "floorAbove"
>;

export type SyncSessionOptions = {
  readonly peer: PeerId;
  /** Whether this side opened the stream: it alone starts syncs, so that no two run at once. */
  readonly isInitiator: boolean;
  readonly table: SyncTable;
};

/** Protocol §3: roots differ for a moment whenever a claim is on its way. */
const mismatchMs: Ms = secondMs;
/** While a sync changes neither root the next one waits twice as long, up to this. A guess. */
const mismatchMsMax: Ms = 30 * secondMs;
/** A sync in which nothing arrives for so long is given up. */
const silentMs: Ms = 5 * secondMs;
/** Two, so that the second is on its way while the first is loaded: joins stay fast over long lines. */
const wantsOutstandingMax = 2;
/** Nothing more is asked for while so many envelopes wait or load: the registry sets the pace. */
const backlogMax = 2 * ownersPerWantMax;
/** A peer that asks without waiting for answers breaks the protocol. */
const wantsWaitingMax = 4;
const pullsMax = 20_000;
const showsMax = 16;
/** An envelope of 20 KiB always fits beside these. */
const batchBytes: Bytes = 40 * KiB;

/**
 * One peer's side of keeping two tables equal over one kept stream. All of its state belongs to the
 * connection and is thrown away with it: a new session compares anew, so a lost message or a peer that lost
 * its data cannot mislead it. Nothing is sent while the roots agree.
 *
 * The driver calls `poll` until it returns `undefined` or the stream takes no more; then again when the
 * stream has drained, after `received`, after `ticked` (once a second) and after the registry has worked.
 */
export class SyncSession {
  readonly #options: SyncSessionOptions;
  readonly #reader = new SyncFrameReader();
  #peerRoot: string | undefined;
  #sentRoot: string | undefined;
  #differsSinceMs: Ms | undefined;
  #waitMs: Ms = 0; // The first difference of a connection is looked at at once.
  #comparedRoots = "";
  /** When the running sync last made progress; `undefined` when none runs. */
  #progressAtMs: Ms | undefined;
  #heardAllHeads = false;
  #isRootDue = true;
  #isBucketsDue = false;
  #toDescribe: HeadRange[] = [];
  #describesLast = false;
  #offers: EnvelopeHead[] = [];
  readonly #pulls = new Map<PeerId, EnvelopeHead>();
  #wantsOutstanding = 0;
  #answers: PeerId[][] = [];
  #shows: Uint8Array[] = [];

  constructor(options: SyncSessionOptions) {
    this.#options = options;
  }

  /** Whether a sync that this side started still runs. */
  get isSyncing(): boolean {
    return this.#progressAtMs !== undefined;
  }

  /**
   * Takes bytes of the stream.
   * @param chunk Untrusted, cut anywhere; not kept.
   * @returns Envelopes for `Registry.arrived`, in order.
   * @throws {OtelaError} `bad_request` when the peer breaks the protocol: end the stream.
   */
  received(chunk: Uint8Array, nowMs: Ms): Uint8Array[] {
    const envelopes: Uint8Array[] = [];
    for (const bytes of this.#reader.take(chunk)) {
      const message = decodeSyncMessage(bytes);
      if (message) envelopes.push(...this.#heard(message, nowMs));
    }
    this.#compare(nowMs);
    return envelopes;
  }

  /** Says a changed root and starts a sync when the roots have differed for long enough. */
  ticked(nowMs: Ms): void {
    if (this.#options.table.root !== this.#sentRoot) this.#isRootDue = true;
    if (this.#progressAtMs !== undefined && nowMs - this.#progressAtMs >= silentMs) {
      this.#finish(nowMs);
    }
    this.#compare(nowMs);
  }

  /** The peer's root came by another way, such as a probe. @param root 16 hexadecimal digits. */
  peerRootSeen(root: string, nowMs: Ms): void {
    this.#peerRoot = root;
    this.#compare(nowMs);
  }

  /** Sends one envelope unasked: for `reply` effects. Dropped when too many wait, as syncs repeat them. */
  show(envelope: Uint8Array): void {
    if (this.#shows.length < showsMax) this.#shows.push(envelope);
  }

  /** The next message, framed, at most 64 KiB; `undefined` when there is nothing to say now. */
  poll(nowMs: Ms): Uint8Array | undefined {
    const message = this.#next(nowMs);
    return message && encodeSyncMessage(message);
  }

  #heard(message: SyncMessage, nowMs: Ms): readonly Uint8Array[] {
    switch (message.type) {
      case "root":
        this.#peerRoot = message.root;
        return [];
      case "buckets":
        this.#peerRoot = message.root;
        this.#describe(message.hashes);
        return [];
      case "heads":
        this.#peerRoot = message.root;
        this.#heardAllHeads ||= message.isLast;
        this.#offerNewer(message.range, message.heads);
        this.#pull(message.heads, nowMs);
        this.#progressed(nowMs);
        return [];
      case "offer":
        this.#pull(message.heads, nowMs);
        return [];
      case "want":
        if (this.#answers.length >= wantsWaitingMax) {
          throw new OtelaError(
            "bad_request",
            `Cannot answer a sync as at most ${wantsWaitingMax} wants must wait: got more`,
          );
        }
        this.#answers.push([...message.owners]);
        return [];
      case "envelopes":
        if (message.isLast) this.#wantsOutstanding = Math.max(0, this.#wantsOutstanding - 1);
        this.#progressed(nowMs);
        return message.envelopes;
      case "show":
        return [message.envelope];
    }
  }

  #next(nowMs: Ms): SyncMessage | undefined {
    const { table } = this.#options;
    const shown = this.#shows.shift();
    if (shown) return { type: "show", envelope: shown };
    if (this.#isBucketsDue) {
      this.#isBucketsDue = false;
      this.#saidRoot(table.root);
      return { type: "buckets", root: table.root, hashes: table.bucketHashes() };
    }
    if (this.#isRootDue) {
      this.#saidRoot(table.root);
      return { type: "root", root: table.root };
    }
    if (this.#toDescribe.length > 0 || this.#describesLast) return this.#nextHeads();
    if (this.#offers.length > 0) {
      return { type: "offer", heads: this.#offers.splice(0, headsPerMessageMax) };
    }
    return this.#nextWant(nowMs) ?? this.#nextAnswer(nowMs);
  }

  // Comparing.

  #compare(nowMs: Ms): void {
    const { isInitiator, table } = this.#options;
    if (this.#progressAtMs !== undefined) this.#finishWhenDone(nowMs);
    if (this.#peerRoot === undefined || this.#peerRoot === table.root) {
      this.#differsSinceMs = undefined;
      if (this.#peerRoot !== undefined) this.#waitMs = mismatchMs;
      return;
    }
    this.#differsSinceMs ??= nowMs;
    if (!isInitiator || this.#progressAtMs !== undefined || table.backlogCount > 0) return;
    if (nowMs - this.#differsSinceMs < this.#waitMs) return;
    const roots = `${table.root} ${this.#peerRoot}`;
    this.#waitMs = roots === this.#comparedRoots
      ? Math.min(2 * Math.max(this.#waitMs, mismatchMs), mismatchMsMax)
      : mismatchMs;
    this.#comparedRoots = roots;
    this.#heardAllHeads = false;
    this.#isBucketsDue = true;
    this.#progressAtMs = nowMs;
  }

  #progressed(nowMs: Ms): void {
    if (this.#progressAtMs !== undefined) this.#progressAtMs = nowMs;
  }

  #finishWhenDone(nowMs: Ms): void {
    const isPulling = this.#pulls.size > 0 || this.#wantsOutstanding > 0;
    if (this.#heardAllHeads && !isPulling && this.#offers.length === 0) this.#finish(nowMs);
  }

  #finish(nowMs: Ms): void {
    this.#progressAtMs = undefined;
    this.#differsSinceMs = nowMs; // Both sides get time to take in what was sent.
    this.#pulls.clear();
    this.#wantsOutstanding = 0;
  }

  #saidRoot(root: string): void {
    this.#isRootDue = false;
    this.#sentRoot = root;
  }

  // Describing what we hold.

  #describe(theirHashes: Uint8Array): void {
    this.#describesLast = true;
    this.#toDescribe = this.#options.table.differingBuckets(theirHashes)
      .map((bucket) => ({ buckets: [bucket], from: "", to: "" }));
  }

  /** Whole buckets as long as they fit; one that does not fit is cut by owner. */
  #nextHeads(): SyncMessage {
    const { table } = this.#options;
    const buckets: number[] = [];
    const heads: EnvelopeHead[] = [];
    let [from, to] = ["", ""];
    while (this.#toDescribe.length > 0) {
      const next = this.#toDescribe[0];
      const found = table.headsIn(next.buckets[0]).filter((head) => head.owner >= next.from);
      if (buckets.length > 0 && heads.length + found.length > headsPerMessageMax) break;
      if (buckets.length > 0 && next.from !== "") break;
      this.#toDescribe.shift();
      buckets.push(next.buckets[0]);
      from = next.from;
      heads.push(...found.slice(0, headsPerMessageMax));
      if (found.length > headsPerMessageMax) {
        to = found[headsPerMessageMax].owner;
        this.#toDescribe.unshift({ ...next, from: to });
      }
      if (from !== "" || to !== "") break;
    }
    const isLast = this.#toDescribe.length === 0;
    if (isLast) this.#describesLast = false;
    this.#saidRoot(table.root);
    return { type: "heads", root: table.root, range: { buckets, from, to }, heads, isLast };
  }

  /** What the peer lacks of the part that it has described. */
  #offerNewer({ buckets, from, to }: HeadRange, theirs: readonly EnvelopeHead[]): void {
    const { table } = this.#options;
    const theirsByOwner = new Map(theirs.map((head) => [head.owner, head]));
    for (const ours of buckets.flatMap((bucket) => table.headsIn(bucket))) {
      if (ours.owner < from || (to !== "" && ours.owner >= to)) continue;
      const known = theirsByOwner.get(ours.owner);
      if (!known || compareHeads(ours, known) > 0) this.#offers.push(ours);
    }
    if (this.#offers.length > pullsMax) this.#offers.length = pullsMax;
  }

  // Fetching and giving.

  #pull(heads: readonly EnvelopeHead[], nowMs: Ms): void {
    const { table, peer } = this.#options;
    for (const head of heads) {
      if (table.mayWant(head, nowMs)) {
        if (this.#pulls.size < pullsMax) this.#pulls.set(head.owner, head);
      } else if (head.owner === peer) {
        const floor = table.floorAbove(head);
        if (floor) this.show(floor);
      }
    }
  }

  #nextWant(nowMs: Ms): SyncMessage | undefined {
    const { table } = this.#options;
    if (this.#wantsOutstanding >= wantsOutstandingMax || table.backlogCount >= backlogMax) {
      return undefined;
    }
    const owners: PeerId[] = [];
    for (const [owner, head] of this.#pulls) {
      if (owners.length === ownersPerWantMax) break;
      this.#pulls.delete(owner);
      if (table.mayWant(head, nowMs)) owners.push(owner); // It may have come another way.
    }
    if (owners.length === 0) return undefined;
    this.#wantsOutstanding++;
    return { type: "want", owners };
  }

  #nextAnswer(nowMs: Ms): SyncMessage | undefined {
    const owners = this.#answers[0];
    if (owners === undefined) return undefined;
    const envelopes: Uint8Array[] = [];
    let bytes = 0;
    while (owners.length > 0 && bytes < batchBytes) {
      const envelope = this.#options.table.envelopeOf(owners.shift()!, nowMs);
      if (!envelope) continue;
      envelopes.push(envelope);
      bytes += envelope.byteLength;
    }
    const isLast = owners.length === 0;
    if (isLast) this.#answers.shift();
    return { type: "envelopes", envelopes, isLast };
  }
}
