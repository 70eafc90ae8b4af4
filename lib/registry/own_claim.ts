// What does this node say of itself, and how does it keep the last word?
import { sha256 } from "@noble/hashes/sha2.js";
import { messageOf } from "../base/errors.ts";
import type { Random } from "../base/ports.ts";
import type { Ms } from "../base/units.ts";
import { toHex } from "./bytes.ts";
import type { Claim } from "./claim.ts";
import { decodeClaim } from "./decode_claim.ts";
import type { OwnEffect } from "./effects.ts";
import {
  documentBytesMax,
  encodeEnvelope,
  type Envelope,
  type EnvelopeFields,
  type Sign,
  signEnvelope,
} from "./envelope.ts";
import type { LoadedClaim } from "./load_claim.ts";
import { compareHeads } from "./order.ts";
import { OwnDocument } from "./own_document.ts";
import { Rivals } from "./rivals.ts";

/** Who we are and how we sign; fixed for the life of the process. */
export type OwnIdentity =
  & Pick<EnvelopeFields, "network" | "owner" | "publicKey" | "run" | "admit">
  & {
    /** Shown to a person when another process uses our key. */
    readonly host: string;
    readonly sign: Sign;
  };

export type OwnClaimOptions = {
  readonly identity: OwnIdentity;
  /** Above every epoch this key has used, as far as the epoch file knows; already stored there. */
  readonly epoch: number;
  /** Whole seconds, 1 to 86,400. */
  readonly leaseS: number;
  readonly random: Random;
  /** Monotonic time at which the process started. */
  readonly startedAtMs: Ms;
};

/** A document begins anew beyond this many changes (protocol §2), or when its save is over the bound. */
const changesMax = 200;
/** Half of what receivers accept at a glance (`document_shape.ts`). */
const operationsMax = 5_000;
const renewalsPerLease = 3;
/** Renewals of nodes that started together spread over this share of the interval, each way. */
const renewalJitter = 0.2;

/**
 * The owner's half of the registry: one Automerge document, signed and numbered.
 * The network can make it speak up again (`outbid`), never change what it says.
 */
export class OwnClaim {
  readonly #options: OwnClaimOptions;
  readonly #rivals: Rivals;
  #document: OwnDocument | undefined;
  #envelope: Envelope | undefined;
  #claim: Claim | undefined;
  #epoch: number;
  #seq = 0;
  #renewAtMs = Infinity;
  #isWithdrawn = false;

  /** Requires that `startAutomerge` has settled before the first `claimSet`. */
  constructor(options: OwnClaimOptions) {
    this.#options = options;
    this.#epoch = options.epoch;
    this.#rivals = new Rivals(options.identity.run, options.startedAtMs);
  }

  /** The newest envelope, document included; `undefined` before the first claim. */
  get envelope(): Envelope | undefined {
    return this.#envelope;
  }

  /** What the newest envelope says. */
  get claim(): Claim | undefined {
    return this.#claim;
  }

  /** Whether the claim was taken back for good. */
  get isWithdrawn(): boolean {
    return this.#isWithdrawn;
  }

  /** States what is true now; publishes only when that differs from before. */
  claimSet(claim: Claim, nowMs: Ms): OwnEffect[] {
    if (this.#isWithdrawn) return [];
    let checked: Claim;
    try {
      checked = decodeClaim(claim);
    } catch (error) {
      return [{ type: "reportClaimRefused", message: messageOf(error) }];
    }
    const document = this.#document;
    if (document === undefined) return this.#begin(checked, this.#epoch, nowMs);
    if (!document.write(checked)) return [];
    const saved = document.save();
    const { changeCount, operationCount } = document.history;
    const isOver = saved.byteLength > documentBytesMax || operationCount > operationsMax ||
      changeCount > changesMax;
    if (isOver) {
      return this.#begin(checked, this.#epoch + 1, nowMs);
    }
    this.#claim = checked;
    return this.#publish(saved, nowMs);
  }

  /** Renews the lease when it is time. */
  ticked(nowMs: Ms): OwnEffect[] {
    if (this.#isWithdrawn || nowMs < this.#renewAtMs) return [];
    return this.#renew(nowMs, { withDocument: false });
  }

  /** Takes the claim back for good: receivers drop it at once. For a process that ends cleanly. */
  withdrawn(nowMs: Ms): OwnEffect[] {
    if (this.#isWithdrawn || this.#envelope === undefined) return [];
    this.#isWithdrawn = true;
    return this.#renew(nowMs, { withDocument: false, leaseS: 0 });
  }

  /**
   * Somebody shows an envelope signed with our own key.
   * @param seen Verified.
   * @returns Effects, and whether its document should be loaded and shown to `rivalLoaded`.
   */
  ownSeen(seen: Envelope, nowMs: Ms): { effects: OwnEffect[]; mustLoad: boolean } {
    const nothing = { effects: [], mustLoad: false };
    if (this.#isWithdrawn || this.#envelope === undefined) return nothing;
    const order = compareHeads(seen, this.#envelope);
    if (order < 0) return nothing;
    if (order === 0) {
      // Ours. With no lease left, it is a receiver's memory of a lease that ended while we were cut off.
      const isForgotten = seen.remainingS === 0 && seen.leaseS > 0;
      if (!isForgotten) return nothing;
      return { effects: this.#renew(nowMs, { withDocument: true }), mustLoad: false };
    }
    const isRival = seen.run !== this.#options.identity.run;
    if (isRival && this.#rivals.isLiving(seen.run, nowMs)) {
      // It answered us, so the process lives: decide with its host and age at hand.
      if (seen.document !== null) return { effects: [], mustLoad: true };
      return { effects: this.#rivalJudged(seen, undefined, nowMs), mustLoad: false };
    }
    if (isRival) this.#rivals.outbid(seen.run, nowMs);
    return { effects: this.#outbid(seen, nowMs), mustLoad: isRival && seen.document !== null };
  }

  /** The document of another process with our key was loaded, or not (`undefined`). */
  rivalLoaded(seen: Envelope, loaded: LoadedClaim | undefined, nowMs: Ms): OwnEffect[] {
    if (this.#isWithdrawn || this.#envelope === undefined) return [];
    if (loaded !== undefined) this.#rivals.described(seen.run, loaded.origin, nowMs);
    if (compareHeads(seen, this.#envelope) <= 0) return []; // Outbid at first sight.
    return this.#rivalJudged(seen, loaded, nowMs);
  }

  /** Somebody holds a goodbye of this epoch, or of a later one: this process lives, and says so in the next. */
  epochSeen(epoch: number, nowMs: Ms): OwnEffect[] {
    if (this.#isWithdrawn || this.#claim === undefined || epoch < this.#epoch) return [];
    return this.#begin(this.#claim, epoch + 1, nowMs);
  }

  /** Gives the document's memory back; nothing may be called afterwards. */
  end(): void {
    this.#document?.end();
    this.#document = undefined;
  }

  #rivalJudged(seen: Envelope, loaded: LoadedClaim | undefined, nowMs: Ms): OwnEffect[] {
    const { ruling, isNews, otherHost } = this.#rivals.judge(seen.run, nowMs);
    const hosts = {
      ownHost: this.#options.identity.host,
      otherHost: loaded?.origin.host ?? otherHost,
    };
    const effects: OwnEffect[] = isNews ? [{ type: "reportDuplicate", hosts }] : [];
    if (ruling === "yield") return [...effects, { type: "yieldIdentity", hosts }];
    if (ruling === "endure") return effects;
    this.#rivals.outbid(seen.run, nowMs);
    return [...effects, ...this.#outbid(seen, nowMs)];
  }

  #outbid(seen: Envelope, nowMs: Ms): OwnEffect[] {
    if (this.#claim === undefined) return [];
    return this.#begin(this.#claim, Math.max(this.#epoch, seen.epoch) + 1, nowMs);
  }

  /** A fresh document; nothing changes when even that is too large. */
  #begin(claim: Claim, epoch: number, nowMs: Ms): OwnEffect[] {
    const { identity, startedAtMs } = this.#options;
    const origin = { host: identity.host, uptimeMs: Math.max(0, Math.round(nowMs - startedAtMs)) };
    // One actor per document: the same actor must never make two different first changes.
    const name = `${identity.owner}/${epoch}/${identity.run}`;
    const actor = toHex(sha256(new TextEncoder().encode(name)).subarray(0, 16));
    const document = new OwnDocument(claim, origin, actor);
    const saved = document.save();
    if (saved.byteLength > documentBytesMax) {
      document.end();
      const message = `Cannot publish a claim as its document must have at most ` +
        `${documentBytesMax} bytes: got ${saved.byteLength}`;
      return [{ type: "reportClaimRefused", message }];
    }
    this.#document?.end();
    this.#document = document;
    this.#claim = claim;
    if (epoch === this.#epoch) return this.#publish(saved, nowMs);
    this.#epoch = epoch;
    this.#seq = 0;
    return [{ type: "storeEpoch", epoch }, ...this.#publish(saved, nowMs)];
  }

  #renew(nowMs: Ms, how: { withDocument: boolean; leaseS?: number }): OwnEffect[] {
    const document = this.#envelope?.document;
    return document ? this.#publish(document, nowMs, how) : [];
  }

  #publish(
    document: Uint8Array,
    nowMs: Ms,
    { withDocument = true, leaseS = this.#options.leaseS } = {},
  ): OwnEffect[] {
    const { identity, random } = this.#options;
    const { network, owner, publicKey, run, admit, sign } = identity;
    const [epoch, seq] = [this.#epoch, ++this.#seq];
    const fields = { network, owner, publicKey, epoch, seq, run, leaseS, admit };
    const envelope = signEnvelope(fields, document, sign);
    this.#envelope = envelope;
    const spread = 1 - renewalJitter + 2 * renewalJitter * random();
    this.#renewAtMs = nowMs + leaseS * 1_000 / renewalsPerLease * spread;
    const wire = encodeEnvelope(withDocument ? envelope : { ...envelope, document: null });
    return [{ type: "publish", envelope: wire }];
  }
}
