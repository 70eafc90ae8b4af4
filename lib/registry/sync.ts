// How do two nodes come to hold the same claims?
import type { PeerId } from "../base/peer_id.ts";
import { type Ms, secondMs } from "../base/units.ts";
import type { EnvelopeHead } from "./order.ts";
import { SyncDescriber } from "./sync_describe.ts";
import { SyncFetcher } from "./sync_fetch.ts";
import { SyncFrameReader } from "./sync_frames.ts";
import { decodeSyncMessage, encodeSyncMessage, type SyncMessage } from "./sync_messages.ts";
import type { SyncTable } from "./sync_table.ts";

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
const showsMax = 16;

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
  readonly #describer: SyncDescriber;
  readonly #fetcher: SyncFetcher;
  #shows: Uint8Array[] = [];
  #peerRoot: string | undefined;
  #sentRoot: string | undefined;
  #isRootDue = true;
  #isBucketsDue = false;
  #differsSinceMs: Ms | undefined;
  #waitMs: Ms = 0; // The first difference of a connection is looked at at once.
  /** Both roots when the last sync began. */
  #comparedRoots = "";
  /** When the running sync last made progress; `undefined` when none runs. */
  #progressAtMs: Ms | undefined;
  #heardAllHeads = false;

  constructor(options: SyncSessionOptions) {
    this.#options = options;
    this.#describer = new SyncDescriber(options.table);
    this.#fetcher = new SyncFetcher(options.table);
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
    if (message === undefined) return undefined;
    if ("root" in message) {
      this.#sentRoot = message.root;
      this.#isRootDue = false;
    }
    return encodeSyncMessage(message);
  }

  #heard(message: SyncMessage, nowMs: Ms): readonly Uint8Array[] {
    if ("root" in message) this.#peerRoot = message.root;
    switch (message.type) {
      case "root":
        return [];
      case "buckets":
        this.#describer.asked(message.hashes);
        return [];
      case "heads":
        this.#heardAllHeads ||= message.isLast;
        this.#describer.heard(message.range, message.heads);
        this.#offered(message.heads, nowMs);
        this.#progressed(nowMs);
        return [];
      case "offer":
        this.#offered(message.heads, nowMs);
        return [];
      case "want":
        this.#fetcher.asked(message.owners);
        return [];
      case "envelopes":
        if (message.isLast) this.#fetcher.answered();
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
      return { type: "buckets", root: table.root, hashes: table.bucketHashes() };
    }
    if (this.#isRootDue) return { type: "root", root: table.root };
    return this.#describer.nextHeads() ?? this.#describer.nextOffer() ??
      this.#fetcher.nextWant(nowMs) ?? this.#fetcher.nextAnswer(nowMs);
  }

  /** Wants what is newer than ours; tells an owner that is below its own floor. */
  #offered(heads: readonly EnvelopeHead[], nowMs: Ms): void {
    const { table, peer } = this.#options;
    for (const head of heads) {
      if (table.mayWant(head, nowMs)) {
        this.#fetcher.pull(head);
      } else if (head.owner === peer) {
        const floor = table.floorAbove(head);
        if (floor) this.show(floor);
      }
    }
  }

  #compare(nowMs: Ms): void {
    const { isInitiator, table } = this.#options;
    const isDone = this.#heardAllHeads && !this.#fetcher.isFetching && !this.#describer.hasOffers;
    if (this.isSyncing && isDone) this.#finish(nowMs);
    if (this.#peerRoot === undefined) return;
    if (this.#peerRoot === table.root) {
      this.#differsSinceMs = undefined;
      this.#waitMs = mismatchMs;
      return;
    }
    this.#differsSinceMs ??= nowMs;
    if (!isInitiator || this.isSyncing || table.backlogCount > 0) return;
    if (nowMs - this.#differsSinceMs < this.#waitMs) return;
    this.#begin(`${table.root} ${this.#peerRoot}`, nowMs);
  }

  #begin(roots: string, nowMs: Ms): void {
    const wasInVain = roots === this.#comparedRoots;
    this.#waitMs = wasInVain ? Math.min(2 * this.#waitMs, mismatchMsMax) : mismatchMs;
    this.#comparedRoots = roots;
    this.#heardAllHeads = false;
    this.#isBucketsDue = true;
    this.#progressAtMs = nowMs;
  }

  #progressed(nowMs: Ms): void {
    if (this.isSyncing) this.#progressAtMs = nowMs;
  }

  #finish(nowMs: Ms): void {
    this.#progressAtMs = undefined;
    this.#differsSinceMs = nowMs; // Both sides get time to take in what was sent.
    this.#fetcher.giveUp();
  }
}
