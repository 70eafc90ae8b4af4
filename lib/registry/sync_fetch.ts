// Which envelopes do we fetch from a peer, and which do we give it?
import { OtelaError } from "../base/errors.ts";
import type { PeerId } from "../base/peer_id.ts";
import { type Bytes, KiB, type Ms } from "../base/units.ts";
import type { EnvelopeHead } from "./order.ts";
import { ownersPerWantMax, type SyncMessage } from "./sync_messages.ts";
import type { SyncTable } from "./sync_table.ts";

/** Two, so that the second is on its way while the first is loaded: joins stay fast over long lines. */
const wantsOutstandingMax = 2;
/** Nothing more is asked for while so many envelopes wait or load: the registry sets the pace. */
const backlogMax = 2 * ownersPerWantMax;
/** A peer that asks for more without waiting for answers breaks the protocol. */
const wantsWaitingMax = 4;
const pullsMax = 20_000;
/** An envelope of 20 KiB always fits beside these. */
const batchBytes: Bytes = 40 * KiB;

/** One session's fetching and giving; the one who fetches sets the pace. */
export class SyncFetcher {
  readonly #pulls = new Map<PeerId, EnvelopeHead>();
  #wantsOutstanding = 0;
  readonly #asked: PeerId[][] = [];

  constructor(readonly table: SyncTable) {}

  /** Whether something is still to come. */
  get isFetching(): boolean {
    return this.#pulls.size > 0 || this.#wantsOutstanding > 0;
  }

  /** The peer holds this state, and we may want it. */
  pull(head: EnvelopeHead): void {
    if (this.#pulls.size < pullsMax) this.#pulls.set(head.owner, head);
  }

  /** The peer gave the last envelope of one `want`. */
  answered(): void {
    this.#wantsOutstanding = Math.max(0, this.#wantsOutstanding - 1);
  }

  /** Forgets what was to come: the peer is silent. */
  giveUp(): void {
    this.#pulls.clear();
    this.#wantsOutstanding = 0;
  }

  /** The peer wants these. @throws {OtelaError} `bad_request` when too much is asked at once. */
  asked(owners: readonly PeerId[]): void {
    if (this.#asked.length >= wantsWaitingMax) {
      throw new OtelaError(
        "bad_request",
        `Cannot answer a sync as at most ${wantsWaitingMax} wants must wait: got one more`,
      );
    }
    this.#asked.push([...owners]);
  }

  /** What to ask for now; `undefined` while enough is on its way or waits here. */
  nextWant(nowMs: Ms): SyncMessage | undefined {
    if (this.#wantsOutstanding >= wantsOutstandingMax) return undefined;
    if (this.table.backlogCount >= backlogMax) return undefined;
    const owners: PeerId[] = [];
    for (const [owner, head] of this.#pulls) {
      if (owners.length === ownersPerWantMax) break;
      this.#pulls.delete(owner);
      if (this.table.mayWant(head, nowMs)) owners.push(owner); // Else it came another way.
    }
    if (owners.length === 0) return undefined;
    this.#wantsOutstanding++;
    return { type: "want", owners };
  }

  /** What to give now; `undefined` when nothing is asked. */
  nextAnswer(nowMs: Ms): SyncMessage | undefined {
    const owners = this.#asked[0];
    if (owners === undefined) return undefined;
    const envelopes: Uint8Array[] = [];
    let bytes = 0;
    while (owners.length > 0 && bytes < batchBytes) {
      const envelope = this.table.envelopeOf(owners.shift()!, nowMs);
      if (!envelope) continue; // Its lease ended meanwhile.
      envelopes.push(envelope);
      bytes += envelope.byteLength;
    }
    const isLast = owners.length === 0;
    if (isLast) this.#asked.shift();
    return { type: "envelopes", envelopes, isLast };
  }
}
