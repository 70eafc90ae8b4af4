// Which envelopes of other owners do we take, and for how long do they stay?
import type { PeerId } from "../base/peer_id.ts";
import type { Ms } from "../base/units.ts";
import { secondMs } from "../base/units.ts";
import { ClaimTable, envelopeOfRow, type Row, rowOf } from "./claim_table.ts";
import type { RegistryEffect } from "./effects.ts";
import type { Envelope } from "./envelope.ts";
import { type EnvelopePorts, refusalOfForgery } from "./envelope_check.ts";
import { envelopeOfFloor, floorKeptMs, Floors, isAtOrBelow } from "./floors.ts";
import type { LoadedClaim } from "./load_claim.ts";
import { LoadRefusals } from "./load_refusals.ts";
import { Newcomers } from "./newcomers.ts";
import { compareHeads, type EnvelopeHead } from "./order.ts";
import { type Receipt, refuse } from "./receipt.ts";

export type PeerClaimsOptions = {
  readonly self: PeerId;
  readonly ports: EnvelopePorts;
  /** Claims held at once, this node's own included; protocol §1: 10,000. */
  readonly claimsMax: number;
  /** Protocol §1: 50 in an open mesh; `Infinity` in a mesh with a secret. */
  readonly newOwnersPerMinuteMax: number;
};

/** What the loader found in a document. */
export type LoadResult =
  | { readonly type: "loaded"; readonly loaded: LoadedClaim }
  | { readonly type: "refused"; readonly reason: "bad_claim" | "overrun" | "overloaded" };

/** An envelope whose document is with the loader. */
type Pending = { readonly envelope: Envelope; readonly document: Uint8Array; readonly sinceMs: Ms };

/** One owner is told at most so often that it is behind. */
const replyEveryMs: Ms = secondMs;

/**
 * The claims of everybody else. The newest state of each owner stays until its lease ends; then a floor
 * stays, so that no replay brings it back. Every order of arrival leads to the same table.
 */
export class PeerClaims {
  readonly table = new ClaimTable();
  readonly floors = new Floors();
  readonly #options: PeerClaimsOptions;
  readonly #newcomers: Newcomers;
  readonly #loadRefusals = new LoadRefusals();
  readonly #pending = new Map<PeerId, Pending>();
  readonly #connected = new Set<PeerId>();
  readonly #repliedAtMs = new Map<PeerId, Ms>();

  constructor(options: PeerClaimsOptions) {
    this.#options = options;
    this.#newcomers = new Newcomers(options.newOwnersPerMinuteMax);
  }

  /** Documents with the loader. */
  get loadingCount(): number {
    return this.#pending.size;
  }

  connectionOpened(peer: PeerId): void {
    this.#connected.add(peer);
  }

  connectionClosed(peer: PeerId): void {
    this.#connected.delete(peer);
  }

  /** The newest state of an owner that we hold or are about to hold. */
  headOf(owner: PeerId): EnvelopeHead | undefined {
    return this.#pending.get(owner)?.envelope ?? this.table.rows.get(owner);
  }

  /** Whether we would take this state, as far as its head tells. */
  mayWant(head: EnvelopeHead, nowMs: Ms): boolean {
    const held = this.headOf(head.owner);
    if (held ? compareHeads(head, held) <= 0 : !this.#hasRoomFor(head.owner)) return false;
    const floor = this.floors.get(head.owner);
    if (floor && isAtOrBelow(head, floor)) return false;
    if (this.#loadRefusals.has(head.owner, head.hash, nowMs)) return false;
    return !this.#options.ports.isDenied(head.owner, "");
  }

  /**
   * Looks at an envelope of another owner.
   * @param from The authenticated peer that handed it to us; this node itself for a snapshot.
   * @param envelope For this mesh and admitted, not yet verified.
   */
  received(from: PeerId, envelope: Envelope, nowMs: Ms): Receipt {
    const { owner, hash, leaseS } = envelope;
    if (envelope.remainingS === 0 && leaseS > 0) return refuse("ignore", "expired");
    const old = this.#refusalOfOld(from, envelope, nowMs);
    if (old) return old;
    if (this.#loadRefusals.has(owner, hash, nowMs)) return refuse("ignore", "refused_before");
    const forged = refusalOfForgery(envelope, this.#options.ports);
    if (forged) return refuse("reject", forged);
    const isNew = !this.headOf(owner) && !this.floors.get(owner);
    if (isNew && from !== owner && from !== this.#options.self) {
      if (!this.#newcomers.admit(from, nowMs)) return refuse("ignore", "too_many_owners");
    }
    if (leaseS === 0) return { verdict: "accept", effects: this.#withdraw(envelope, nowMs) };
    return this.#take(envelope, nowMs);
  }

  /** The loader answered a `loadClaim`. */
  loaded(head: EnvelopeHead, result: LoadResult, nowMs: Ms): RegistryEffect[] {
    const pending = this.#pending.get(head.owner);
    if (pending?.envelope.hash !== head.hash) return []; // Something newer took its place.
    this.#pending.delete(head.owner);
    if (result.type === "refused") {
      // A loader that is full says nothing of the document: the next sync brings it again.
      if (result.reason !== "overloaded") this.#loadRefusals.overran(head.owner, head.hash, nowMs);
      return [{ type: "count", reason: result.reason }];
    }
    const { claim } = result.loaded;
    if (this.#options.ports.isDenied(head.owner, claim.wallet)) {
      return [{ type: "count", reason: "denied" }];
    }
    const { envelope, document, sinceMs } = pending;
    return this.#put(rowOf(envelope, claim, document, { nowMs: sinceMs, isOwn: false }));
  }

  /** Ends leases and forgets what is old enough. */
  ticked(nowMs: Ms): RegistryEffect[] {
    const effects: RegistryEffect[] = [];
    for (const row of this.table.rows.values()) {
      if (row.expiresAtMs <= nowMs) effects.push(...this.#end(row, "expired", nowMs));
    }
    this.floors.ticked(nowMs);
    this.#loadRefusals.ticked(nowMs);
    for (const [peer, repliedAtMs] of this.#repliedAtMs) {
      if (nowMs - repliedAtMs >= replyEveryMs) this.#repliedAtMs.delete(peer);
    }
    return effects;
  }

  #refusalOfOld(from: PeerId, envelope: Envelope, nowMs: Ms): Receipt | undefined {
    const { owner } = envelope;
    const floor = this.floors.get(owner);
    if (floor && isAtOrBelow(envelope, floor)) {
      const effects = from === owner ? this.#reply(owner, envelopeOfFloor(floor), nowMs) : [];
      return { verdict: "ignore", effects: [{ type: "count", reason: "floored" }, ...effects] };
    }
    const held = this.headOf(owner);
    const order = held ? compareHeads(envelope, held) : 1;
    if (order > 0) return undefined;
    const row = this.table.rows.get(owner);
    if (order === 0 && row && compareHeads(envelope, row) === 0) {
      this.#lengthen(row, envelope, nowMs);
    }
    const higher = order < 0 && from === owner && row ? envelopeOfRow(row, nowMs) : undefined;
    const effects = higher ? this.#reply(owner, higher, nowMs) : [];
    return { verdict: "ignore", effects: [{ type: "count", reason: "stale" }, ...effects] };
  }

  /** What remains is unsigned: a sender that says too little is corrected by the next that knows better. */
  #lengthen(row: Row, envelope: Envelope, nowMs: Ms): void {
    const expiresAtMs = Math.min(nowMs + envelope.remainingS * secondMs, row.leaseEndMs);
    if (expiresAtMs > row.expiresAtMs) this.table.put({ ...row, expiresAtMs });
  }

  #reply(peer: PeerId, envelope: Uint8Array, nowMs: Ms): RegistryEffect[] {
    const repliedAtMs = this.#repliedAtMs.get(peer);
    if (repliedAtMs !== undefined && nowMs - repliedAtMs < replyEveryMs) return [];
    this.#repliedAtMs.set(peer, nowMs);
    return [{ type: "reply", peer, envelope }];
  }

  /** Takes a true and new envelope: at once when we know its document, else by way of the loader. */
  #take(envelope: Envelope, nowMs: Ms): Receipt {
    const { owner, epoch, seq, hash } = envelope;
    const pending = this.#pending.get(owner);
    if (pending?.envelope.hash === hash) {
      this.#pending.set(owner, { ...pending, envelope, sinceMs: nowMs });
      return { verdict: "accept", effects: [] };
    }
    const row = this.table.rows.get(owner);
    if (row?.hash === hash) {
      this.#pending.delete(owner); // What was being loaded is older than this.
      const fresh = rowOf(envelope, row.claim, row.document, { nowMs, isOwn: false });
      return { verdict: "accept", effects: this.#put(fresh) };
    }
    const { document } = envelope;
    if (document === null) return refuse("accept", "no_document");
    const displaced = this.#makeRoomFor(owner, nowMs);
    if (displaced === undefined) return refuse("ignore", "table_full");
    this.#pending.set(owner, { envelope, document, sinceMs: nowMs });
    const head = { owner, epoch, seq, hash };
    return { verdict: "accept", effects: [...displaced, { type: "loadClaim", head, document }] };
  }

  #put(row: Row): RegistryEffect[] {
    this.floors.lift(row.owner);
    return this.table.put(row) ? [{ type: "announceChanged", owner: row.owner }] : [];
  }

  #withdraw(envelope: Envelope, nowMs: Ms): RegistryEffect[] {
    this.#pending.delete(envelope.owner);
    return this.#end(envelope, "withdrawn", nowMs);
  }

  #end(
    last: EnvelopeHead & Pick<Envelope, "signedPart" | "signature">,
    reason: "expired" | "withdrawn",
    nowMs: Ms,
  ): RegistryEffect[] {
    const { owner, epoch, seq, hash, signedPart, signature } = last;
    const forgottenAtMs = nowMs + floorKeptMs;
    this.floors.raise({ owner, epoch, seq, hash, signedPart, signature, forgottenAtMs });
    const removed = this.table.remove(owner);
    if (this.table.rows.size <= 1) this.#newcomers.emptied();
    return removed ? [{ type: "announceRemoved", owner, reason }] : [];
  }

  #hasRoomFor(owner: PeerId): boolean {
    if (this.table.rows.has(owner) || this.#connected.has(owner)) return true;
    return this.table.rows.size + this.#pending.size < this.#options.claimsMax;
  }

  /** @returns Effects of the claim that had to go; `undefined` when there is no room. */
  #makeRoomFor(owner: PeerId, nowMs: Ms): RegistryEffect[] | undefined {
    const count = this.table.rows.size + this.#pending.size;
    if (this.table.rows.has(owner) || count < this.#options.claimsMax) return [];
    if (!this.#connected.has(owner)) return undefined;
    // The newest of those without a connection goes: a flood of invented owners comes last.
    let newest: Row | undefined;
    for (const row of this.table.rows.values()) {
      if (row.owner === this.#options.self || this.#connected.has(row.owner)) continue;
      if (row.expiresAtMs <= nowMs || !newest || row.receivedAtMs >= newest.receivedAtMs) {
        newest = row;
      }
    }
    if (!newest) return undefined;
    this.table.remove(newest.owner);
    return [{ type: "announceRemoved", owner: newest.owner, reason: "displaced" }];
  }
}
