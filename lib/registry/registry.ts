// What has every node of the mesh said of itself?
import type { PeerId } from "../base/peer_id.ts";
import type { Ms } from "../base/units.ts";
import { secondMs } from "../base/units.ts";
import type { Claim } from "./claim.ts";
import { envelopeOfRow, type RegistryEntry, type Row, rowOf } from "./claim_table.ts";
import type { OwnEffect, RegistryEffect } from "./effects.ts";
import { decodeEnvelope, type Envelope, publicKeyIn } from "./envelope.ts";
import { refusalOfForgery, refusalOfStranger } from "./envelope_check.ts";
import { envelopeOfFloor, type Floor, isAtOrBelow } from "./floors.ts";
import { Inbox } from "./inbox.ts";
import type { EnvelopeHead } from "./order.ts";
import { OwnClaim, type OwnClaimOptions } from "./own_claim.ts";
import { type LoadResult, PeerClaims, type PeerClaimsOptions } from "./peer_claims.ts";
import { type Receipt, refuse } from "./receipt.ts";
import type { FloorRecord, Snapshot } from "./snapshot.ts";

export type RegistryOptions = Omit<PeerClaimsOptions, "self"> & { readonly own: OwnClaimOptions };

/** Documents of rivals (other processes with our key) with the loader at once. */
const rivalsLoadingMax = 4;

/**
 * The registry of one node, without clock, chance, thread or network: events come in with the monotonic time,
 * effects come out. Its own claim is visible at once, and nothing from outside changes it.
 */
export class Registry {
  /** This node. */
  readonly self: PeerId;
  readonly #options: RegistryOptions;
  readonly #own: OwnClaim;
  readonly #peers: PeerClaims;
  readonly #inbox = new Inbox();
  readonly #rivalsLoading = new Map<string, Envelope>();

  constructor(options: RegistryOptions) {
    this.self = options.own.identity.owner;
    this.#options = options;
    this.#own = new OwnClaim(options.own);
    this.#peers = new PeerClaims({ ...options, self: this.self });
  }

  /** Every claim we hold, our own included. A live map: read it at once, compare `version` later. */
  get entries(): ReadonlyMap<PeerId, RegistryEntry> {
    return this.#peers.table.rows;
  }

  /** Raised whenever an owner came, went or says something else; renewals do not raise it. */
  get version(): number {
    return this.#peers.table.version;
  }

  /** The key of an owner whose claim we hold, in libp2p's protobuf form. Decodes: for what is rare. */
  publicKeyOf(owner: PeerId): Uint8Array | undefined {
    const row = this.#peers.table.rows.get(owner);
    return row && publicKeyIn(row.signedPart);
  }

  /** 8 bytes as 16 hexadecimal digits; equal tables have equal roots. */
  get root(): string {
    return this.#peers.table.digest.root;
  }

  /** Envelopes that arrived and are neither in the table nor refused yet. */
  get backlogCount(): number {
    return this.#inbox.size + this.#peers.loadingCount;
  }

  /** Whether `work` has something to do. */
  get hasWork(): boolean {
    return this.#inbox.size > 0;
  }

  /** States what is true of this node now. */
  claimSet(claim: Claim, nowMs: Ms): RegistryEffect[] {
    return this.#afterOwn(this.#own.claimSet(claim, nowMs), nowMs);
  }

  /** Membership met a goodbye of this epoch of our own, or of a later one: the claim is stated in the next. */
  epochSeen(epoch: number, nowMs: Ms): RegistryEffect[] {
    return this.#afterOwn(this.#own.epochSeen(epoch, nowMs), nowMs);
  }

  /** Takes this node's claim back for good: for a process that ends cleanly and will not return. */
  withdrawn(nowMs: Ms): RegistryEffect[] {
    return this.#afterOwn(this.#own.withdrawn(nowMs), nowMs);
  }

  /** A peer has at least one connection to us: its claim is kept when the table is full. */
  connectionOpened(peer: PeerId): void {
    this.#peers.connectionOpened(peer);
  }

  /** The last connection of a peer closed. */
  connectionClosed(peer: PeerId): void {
    this.#peers.connectionClosed(peer);
  }

  /** Ends leases and renews our own; to be called about once a second. */
  ticked(nowMs: Ms): RegistryEffect[] {
    return [...this.#afterOwn(this.#own.ticked(nowMs), nowMs), ...this.#peers.ticked(nowMs)];
  }

  /** Puts envelopes of a sync in line for `work`. @param from The authenticated peer that sent them. */
  arrived(from: PeerId, envelopes: Iterable<Uint8Array>): RegistryEffect[] {
    const effects: RegistryEffect[] = [];
    for (const bytes of envelopes) {
      if (!this.#inbox.push({ from, bytes })) effects.push({ type: "count", reason: "overloaded" });
    }
    return effects;
  }

  /** Puts a snapshot in line for `work`; floors count at once and are never lowered by it. */
  restored(snapshot: Snapshot, nowMs: Ms): RegistryEffect[] {
    for (const { envelope, keptS } of snapshot.floors) {
      const floor = decodeEnvelope(envelope);
      if (typeof floor === "string" || floor.owner === this.self) continue;
      const { owner, epoch, seq, hash, signedPart, signature } = floor;
      const forgottenAtMs = nowMs + keptS * secondMs;
      this.#peers.floors.raise({ owner, epoch, seq, hash, signedPart, signature, forgottenAtMs });
    }
    return this.arrived(this.self, snapshot.envelopes);
  }

  /**
   * Looks at waiting envelopes, oldest first.
   * @param countMax 16 take about 2 ms with the node's verifier; the caller lets others run in between.
   */
  work(nowMs: Ms, countMax: number): RegistryEffect[] {
    const effects: RegistryEffect[] = [];
    for (let count = 0; count < countMax; count++) {
      const arrival = this.#inbox.take();
      if (arrival === undefined) break;
      effects.push(...this.envelopeReceived(arrival.from, arrival.bytes, nowMs).effects);
    }
    return effects;
  }

  /**
   * Looks at one envelope.
   * @param from The authenticated peer that handed it to us, which is seldom its owner.
   * @param bytes Untrusted.
   */
  envelopeReceived(from: PeerId, bytes: Uint8Array, nowMs: Ms): Receipt {
    const { network } = this.#options.own.identity;
    const envelope = decodeEnvelope(bytes);
    if (typeof envelope === "string") return refuse("reject", envelope);
    const strange = refusalOfStranger(envelope, network, this.#options.ports);
    if (strange) return refuse(strange === "denied" ? "ignore" : "reject", strange);
    if (envelope.owner !== this.self) return this.#peers.received(from, envelope, nowMs);
    return this.#ownReceived(envelope, nowMs);
  }

  /** The loader answered a `loadClaim`. */
  claimLoaded(head: EnvelopeHead, result: LoadResult, nowMs: Ms): RegistryEffect[] {
    if (head.owner !== this.self) return this.#peers.loaded(head, result, nowMs);
    const rival = this.#rivalsLoading.get(head.hash);
    if (rival === undefined) return [];
    this.#rivalsLoading.delete(head.hash);
    const loaded = result.type === "loaded" ? result.loaded : undefined;
    return this.#afterOwn(this.#own.rivalLoaded(rival, loaded, nowMs), nowMs);
  }

  /**
   * Gives back what the garbage collector does not see: Automerge keeps 23 KB of this node's document. For worlds
   * of many registries; nothing may be called afterwards.
   */
  end(): void {
    this.#own.end();
  }

  // What a sync and a snapshot read.

  /** Whether we would take this state, as far as its head tells. */
  mayWant(head: EnvelopeHead, nowMs: Ms): boolean {
    return this.#peers.mayWant(head, nowMs);
  }

  /** A copy of the hashes of all buckets, 8 bytes each. */
  bucketHashes(): Uint8Array {
    return this.#peers.table.digest.bucketHashes();
  }

  /** @param theirs Exactly `bucketHashesBytes` long. */
  differingBuckets(theirs: Uint8Array): number[] {
    return this.#peers.table.digest.differingBuckets(theirs);
  }

  /** Heads of the claims in one bucket, by owner. */
  headsIn(bucket: number): EnvelopeHead[] {
    const { table } = this.#peers;
    return table.ownersIn(bucket).flatMap((owner) => table.rows.get(owner) ?? []);
  }

  /** An owner's envelope for somebody else; `undefined` when there is none or its lease is as good as over. */
  envelopeOf(owner: PeerId, nowMs: Ms): Uint8Array | undefined {
    const row = this.#peers.table.rows.get(owner);
    return row && envelopeOfRow(row, nowMs);
  }

  /** What to show an owner whose state is at or below its floor here; `undefined` when it is not. */
  floorAbove(head: EnvelopeHead): Uint8Array | undefined {
    const floor = this.#peers.floors.get(head.owner);
    return floor && isAtOrBelow(head, floor) ? envelopeOfFloor(floor) : undefined;
  }

  /** Everything a restart may use again, as of now; encoded while it is read. */
  snapshot(nowMs: Ms): Snapshot {
    const rows = [...this.#peers.table.rows.values()].filter(({ owner }) => owner !== this.self);
    const floors = [...this.#peers.floors.values()];
    return { envelopes: envelopesOf(rows, nowMs), floors: floorRecordsOf(floors, nowMs) };
  }

  #ownReceived(envelope: Envelope, nowMs: Ms): Receipt {
    const forged = refusalOfForgery(envelope, this.#options.ports);
    if (forged) return refuse("reject", forged);
    const { effects, mustLoad } = this.#own.ownSeen(envelope, nowMs);
    const all = this.#afterOwn(effects, nowMs);
    const { owner, epoch, seq, hash, document } = envelope;
    if (mustLoad && document !== null && this.#rivalsLoading.size < rivalsLoadingMax) {
      this.#rivalsLoading.set(hash, envelope);
      all.push({ type: "loadClaim", head: { owner, epoch, seq, hash }, document });
    }
    return { verdict: "ignore", effects: all };
  }

  /** Shows what our own half now says in the table. */
  #afterOwn(effects: OwnEffect[], nowMs: Ms): RegistryEffect[] {
    const { envelope, claim, isWithdrawn } = this.#own;
    if (!envelope?.document || !claim) return effects;
    const owner = this.self;
    const { table } = this.#peers;
    if (isWithdrawn) {
      if (!table.remove(owner)) return effects;
      return [...effects, { type: "announceRemoved", owner, reason: "withdrawn" }];
    }
    const shown = table.rows.get(owner);
    if (shown?.epoch === envelope.epoch && shown.seq === envelope.seq) return effects;
    const isNews = table.put(rowOf(envelope, claim, envelope.document, { nowMs, isOwn: true }));
    return isNews ? [...effects, { type: "announceChanged", owner }] : effects;
  }
}

function* envelopesOf(rows: readonly Row[], nowMs: Ms): Generator<Uint8Array, void> {
  for (const row of rows) {
    const envelope = envelopeOfRow(row, nowMs);
    if (envelope) yield envelope;
  }
}

function* floorRecordsOf(floors: readonly Floor[], nowMs: Ms): Generator<FloorRecord, void> {
  for (const floor of floors) {
    const keptS = Math.max(0, Math.floor((floor.forgottenAtMs - nowMs) / secondMs));
    yield { envelope: envelopeOfFloor(floor), keptS };
  }
}
