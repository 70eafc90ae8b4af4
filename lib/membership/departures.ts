// Who has left, by statements that everybody can check?
import type { PeerId } from "../base/peer_id.ts";
import type { Ms } from "../base/units.ts";
import { accusationKeptMs } from "./defaults.ts";
import { bucketOf, DepartedDigest } from "./departed_digest.ts";
import { compareIncarnations, type Incarnation } from "./incarnation.ts";
import type { Rumour } from "./rumour.ts";

/** Proof that a peer has left: its own goodbye, or the word of two watchers. */
export type Departure = {
  readonly incarnation: Incarnation;
  readonly reason: "failed" | "goodbye" | "drained";
  readonly rumours: readonly Rumour[];
};

/** Refutations kept for those who still believe an accusation; the oldest make room. A guess. */
const refutationsMax = 2_000;

/**
 * What the whole mesh shares about who has left; what we think ourselves is in the member table. Equal on all nodes
 * once rumours have spread, and compared by digest.
 */
export class Departures {
  readonly digest = new DepartedDigest();
  readonly #departures = new Map<PeerId, Departure>();
  readonly #accusations = new Map<
    PeerId,
    Map<PeerId, { readonly rumour: Rumour; readonly atMs: Ms }>
  >();
  readonly #refutations = new Map<PeerId, Rumour>();

  /** Who has left; a live iterator. */
  peers(): IterableIterator<PeerId> {
    return this.#departures.keys();
  }

  get(peer: PeerId): Departure | undefined {
    return this.#departures.get(peer);
  }

  /** The refutation of a peer, when it has outbid an accusation. */
  refutationOf(peer: PeerId): Rumour | undefined {
    return this.#refutations.get(peer);
  }

  /** Whether we hold this very statement, or one that makes it needless. */
  knows({ kind, subject, incarnation, signer }: Rumour): boolean {
    if (kind === "failed" && this.#accusations.get(subject)?.has(signer)) return true;
    const departure = this.#departures.get(subject);
    if (kind !== "alive") {
      return departure !== undefined &&
        compareIncarnations(incarnation, departure.incarnation) <= 0;
    }
    const known = this.#refutations.get(subject);
    return known !== undefined && compareIncarnations(incarnation, known.incarnation) <= 0;
  }

  /** A goodbye whose signature is right. */
  said(rumour: Rumour): void {
    if (rumour.kind !== "goodbye" && rumour.kind !== "drained") return;
    const { incarnation, kind: reason } = rumour;
    this.#put(rumour.subject, { incarnation, reason, rumours: [rumour] });
  }

  /**
   * An accusation by somebody with authority.
   * @param neededCount Accusers that make a proof.
   * @returns Whether there is a proof now that was not there before.
   */
  accused(rumour: Rumour, neededCount: number, nowMs: Ms): boolean {
    const { subject, signer } = rumour;
    let accusers = this.#accusations.get(subject);
    if (!accusers) this.#accusations.set(subject, accusers = new Map());
    accusers.set(signer, { rumour, atMs: nowMs });
    if (accusers.size < neededCount) return false;
    const rumours = [...accusers.values()].map((one) => one.rumour)
      .sort((a, b) => compareIncarnations(b.incarnation, a.incarnation));
    const latest = rumours[0].incarnation;
    const known = this.#departures.get(subject);
    if (known && compareIncarnations(known.incarnation, latest) >= 0) return false;
    this.#put(subject, { incarnation: latest, reason: "failed", rumours: rumours.slice(0, 2) });
    this.#accusations.delete(subject);
    return true;
  }

  /** A peer has spoken up with its signature. */
  refuted(rumour: Rumour): void {
    this.#refutations.delete(rumour.subject);
    if (this.#refutations.size >= refutationsMax) {
      const oldest = this.#refutations.keys().next().value;
      if (oldest !== undefined) this.#refutations.delete(oldest);
    }
    this.#refutations.set(rumour.subject, rumour);
    this.outlived(rumour.subject, rumour.incarnation);
  }

  /** A peer was seen at this incarnation. @returns Whether it had been called left at an earlier one. */
  outlived(peer: PeerId, incarnation: Incarnation): boolean {
    const accusers = this.#accusations.get(peer);
    if (accusers) {
      for (const [signer, { rumour }] of accusers) {
        if (compareIncarnations(rumour.incarnation, incarnation) < 0) accusers.delete(signer);
      }
      if (accusers.size === 0) this.#accusations.delete(peer);
    }
    const departure = this.#departures.get(peer);
    if (!departure || compareIncarnations(departure.incarnation, incarnation) >= 0) return false;
    this.#drop(peer, departure);
    return true;
  }

  /** Its claim is gone: nothing is to be remembered of it. */
  forget(peer: PeerId): void {
    const departure = this.#departures.get(peer);
    if (departure) this.#drop(peer, departure);
    this.#accusations.delete(peer);
    this.#refutations.delete(peer);
  }

  /** Forgets accusations that nobody has joined. */
  ticked(nowMs: Ms): void {
    if (this.#accusations.size === 0) return;
    for (const [peer, accusers] of this.#accusations) {
      for (const [signer, { atMs }] of accusers) {
        if (nowMs - atMs > accusationKeptMs) accusers.delete(signer);
      }
      if (accusers.size === 0) this.#accusations.delete(peer);
    }
  }

  /** Everything that proves what we hold in these buckets. */
  rumoursIn(buckets: ReadonlySet<number>): Rumour[] {
    const found: Rumour[] = [];
    for (const [peer, { rumours }] of this.#departures) {
      if (buckets.has(bucketOf(peer))) found.push(...rumours);
    }
    for (const [peer, rumour] of this.#refutations) {
      if (buckets.has(bucketOf(peer))) found.push(rumour);
    }
    return found;
  }

  #put(peer: PeerId, departure: Departure): void {
    const former = this.#departures.get(peer);
    if (former) this.#drop(peer, former);
    this.#refutations.delete(peer); // Of an earlier accusation: it was outbid.
    this.#departures.set(peer, departure);
    this.digest.toggle(peer, departure.incarnation);
  }

  #drop(peer: PeerId, departure: Departure): void {
    this.#departures.delete(peer);
    this.digest.toggle(peer, departure.incarnation);
  }
}
