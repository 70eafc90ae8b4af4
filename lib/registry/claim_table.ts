// Which claims do we hold?
import type { PeerId } from "../base/peer_id.ts";
import type { Ms } from "../base/units.ts";
import { secondMs } from "../base/units.ts";
import type { Claim } from "./claim.ts";
import { bucketOf, TableDigest } from "./digest.ts";
import { encodeEnvelope, type Envelope } from "./envelope.ts";
import type { EnvelopeHead } from "./order.ts";

/** One owner's claim as everybody may read it; never changed in place. */
export type RegistryEntry = EnvelopeHead & {
  /** The owner's process, hexadecimal. */
  readonly run: string;
  readonly claim: Claim;
  /** Monotonic, local; `Infinity` for this node's own claim. */
  readonly expiresAtMs: Ms;
  /** When this state of the claim first came in. */
  readonly receivedAtMs: Ms;
};

/** A row is its entry and the bytes that prove it. */
export type Row = RegistryEntry & {
  readonly signedPart: Uint8Array;
  readonly signature: Uint8Array;
  readonly document: Uint8Array;
  readonly leaseS: number;
  /** The lease never runs beyond this, whatever later senders say. */
  readonly leaseEndMs: Ms;
};

/** Rows by owner, their digest, and a counter by which views know that they are old. */
export class ClaimTable {
  readonly #rows = new Map<PeerId, Row>();
  readonly #buckets = new Map<number, Set<PeerId>>();
  readonly digest = new TableDigest();
  #version = 0;

  /** Raised whenever an owner came, went or says something else; renewals do not raise it. */
  get version(): number {
    return this.#version;
  }

  get rows(): ReadonlyMap<PeerId, Row> {
    return this.#rows;
  }

  /** Owners of one bucket, sorted. */
  ownersIn(bucket: number): PeerId[] {
    return [...this.#buckets.get(bucket) ?? []].sort();
  }

  /** Puts a row in place of its owner's former one. @returns Whether views see a difference. */
  put(row: Row): boolean {
    const former = this.#rows.get(row.owner);
    if (former) this.digest.toggle(former);
    this.digest.toggle(row);
    this.#rows.set(row.owner, row);
    if (!former) {
      const bucket = bucketOf(row.owner);
      const owners = this.#buckets.get(bucket);
      if (owners) owners.add(row.owner);
      else this.#buckets.set(bucket, new Set([row.owner]));
    }
    const isNews = former?.claim !== row.claim || former.run !== row.run;
    if (isNews) this.#version++;
    return isNews;
  }

  /** @returns The removed row; `undefined` when there was none. */
  remove(owner: PeerId): Row | undefined {
    const row = this.#rows.get(owner);
    if (!row) return undefined;
    this.digest.toggle(row);
    this.#rows.delete(owner);
    const bucket = bucketOf(owner);
    const owners = this.#buckets.get(bucket);
    owners?.delete(owner);
    if (owners?.size === 0) this.#buckets.delete(bucket);
    this.#version++;
    return row;
  }
}

/** A row from a checked envelope; `document` comes from the former row when the envelope is a renewal. */
export function rowOf(
  envelope: Envelope,
  claim: Claim,
  document: Uint8Array,
  { nowMs, isOwn }: { nowMs: Ms; isOwn: boolean },
): Row {
  const { owner, epoch, seq, hash, run, signedPart, signature, leaseS, remainingS } = envelope;
  const expiresAtMs = isOwn ? Infinity : nowMs + remainingS * secondMs;
  const leaseEndMs = nowMs + leaseS * secondMs;
  const proof = { signedPart, signature, document, leaseS, leaseEndMs };
  return { owner, epoch, seq, hash, run, claim, expiresAtMs, receivedAtMs: nowMs, ...proof };
}

/** The row as an envelope for somebody else; `undefined` when less than a second remains of its lease. */
export function envelopeOfRow(row: Row, nowMs: Ms): Uint8Array | undefined {
  const leftS = Math.floor((row.expiresAtMs - nowMs) / secondMs);
  const remainingS = Math.min(leftS, row.leaseS);
  return remainingS < 1 ? undefined : encodeEnvelope({ ...row, remainingS });
}
