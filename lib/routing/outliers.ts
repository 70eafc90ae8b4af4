// Which engines answer badly although they can be reached?
import type { PeerId } from "../base/peer_id.ts";
import { type Ms, secondMs } from "../base/units.ts";
import type { Seat } from "./load_book.ts";

/** Failures in a row, without a success between them, until a seat is left alone (C037: 3). */
export const failuresMax = 3;
/** For so long it is left alone at first; each failed trial doubles it. A guess. */
export const restFirstMs: Ms = 2 * secondMs;
/** And for no longer than this. A guess. */
export const restLastMs: Ms = 60 * secondMs;
/** A seat that returns gets its full share only after this. A guess: caches and compilers warm up. */
export const rampMs: Ms = 10 * secondMs;
/** Share of a returning seat at its first moment. */
export const rampStart = 0.1;
/** Seats remembered. Only failing and returning ones are; beyond it the oldest are forgotten. */
export const outliersMax = 10_000;

type Outlier = {
  failureCount: number;
  /** Left alone until then; -Infinity when it is not. */
  outUntilMs: Ms;
  restMs: Ms;
  /** A trial was let through and has not ended. */
  isOnTrial: boolean;
  /** It could not be reached when last asked. */
  isLost: boolean;
  /** When it came back; -Infinity when it never was away. */
  returnedAtMs: Ms;
};

/**
 * Takes seats out of routing whose engine keeps failing, and lets one request through per rest to see whether it
 * has recovered. Judged by what requests saw, because probes of an engine's front pass while its core is dead.
 * Costs nothing while nothing fails: no seat is remembered then.
 */
export class Outliers {
  readonly #seats = new Map<string, Outlier>();

  /** An answer was good, or at least the engine's own: a status below 500. */
  succeeded(seat: Seat, nowMs: Ms): void {
    if (this.#seats.size === 0) return;
    const key = keyOf(seat);
    const known = this.#seats.get(key);
    if (!known) return;
    if (known.outUntilMs !== -Infinity || known.isLost) known.returnedAtMs = nowMs;
    known.isLost = false;
    known.failureCount = 0;
    known.outUntilMs = -Infinity;
    known.restMs = restFirstMs;
    known.isOnTrial = false;
    if (nowMs - known.returnedAtMs > rampMs) this.#seats.delete(key);
  }

  /**
   * A stream has begun well. For a trial that is enough, since a stream may last for hours; for everybody else its
   * end decides, or an engine that always breaks in the middle would never have failed in a row.
   */
  began(seat: Seat, nowMs: Ms): void {
    if (this.#seats.size > 0 && this.#seats.get(keyOf(seat))?.isOnTrial) {
      this.succeeded(seat, nowMs);
    }
  }

  /** The engine was reached and did not do its work. */
  failed(seat: Seat, nowMs: Ms): void {
    const known = this.#at(seat);
    known.failureCount++;
    if (known.outUntilMs !== -Infinity) {
      if (!known.isOnTrial) return; // One that began before the seat was taken out.
      known.restMs = Math.min(restLastMs, known.restMs * 2);
    } else if (known.failureCount < failuresMax) return;
    known.isOnTrial = false;
    known.outUntilMs = nowMs + known.restMs;
  }

  /** The seat cannot be reached: when it can again, it returns with a small share. */
  lost(seat: Seat): void {
    const known = this.#at(seat);
    known.isLost = true;
    known.isOnTrial = false;
  }

  /** A trial ended without saying anything of the engine: its client left, or it was refused. */
  undecided(seat: Seat): void {
    if (this.#seats.size === 0) return;
    const known = this.#seats.get(keyOf(seat));
    if (known) known.isOnTrial = false;
  }

  /** Whether requests must not go there now. A seat whose rest is over takes one, its trial: see `chosen`. */
  isOut(seat: Seat, nowMs: Ms): boolean {
    if (this.#seats.size === 0) return false;
    const known = this.#seats.get(keyOf(seat));
    return known !== undefined && known.outUntilMs !== -Infinity &&
      (known.isOnTrial || nowMs < known.outUntilMs);
  }

  /** A request goes to the seat; if it is out, this is its trial. */
  chosen(seat: Seat): void {
    if (this.#seats.size === 0) return;
    const known = this.#seats.get(keyOf(seat));
    if (known && known.outUntilMs !== -Infinity) known.isOnTrial = true;
  }

  /** Until the seat's next trial; 0 when it is not out. */
  restMs(seat: Seat, nowMs: Ms): Ms {
    const known = this.#seats.get(keyOf(seat));
    return known && known.outUntilMs !== -Infinity ? Math.max(0, known.outUntilMs - nowMs) : 0;
  }

  /** Share of its full weight that a seat gets: 1, less while it has just returned. */
  share(seat: Seat, nowMs: Ms): number {
    if (this.#seats.size === 0) return 1;
    const known = this.#seats.get(keyOf(seat));
    if (!known) return 1;
    const sinceMs = nowMs - known.returnedAtMs;
    return sinceMs >= rampMs ? 1 : Math.max(rampStart, sinceMs / rampMs);
  }

  /** Seats that are out now, for metrics. */
  outCount(): number {
    let count = 0;
    for (const { outUntilMs } of this.#seats.values()) if (outUntilMs !== -Infinity) count++;
    return count;
  }

  #at(seat: Seat): Outlier {
    const key = keyOf(seat);
    let known = this.#seats.get(key);
    if (known) return known;
    if (this.#seats.size >= outliersMax) this.#seats.delete(this.#seats.keys().next().value!);
    known = {
      failureCount: 0,
      outUntilMs: -Infinity,
      restMs: restFirstMs,
      isOnTrial: false,
      isLost: false,
      returnedAtMs: -Infinity,
    };
    this.#seats.set(key, known);
    return known;
  }
}

/** Service names have no blanks. */
function keyOf({ peer, service }: { peer: PeerId; service: string }): string {
  return `${service} ${peer}`;
}
