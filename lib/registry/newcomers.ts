// How fast may one connection bring us owners that we have never heard of?
//
// Identities cost nothing in an open mesh, so each connection has a budget a minute. Who joins a mesh must
// learn all of it at once: for a minute after the first foreign claim no budget applies, only the cap.
import type { PeerId } from "../base/peer_id.ts";
import type { Ms } from "../base/units.ts";
import { minuteMs } from "../base/units.ts";

/** Bound on remembered connections; beyond it the oldest is forgotten. */
const connectionsMax = 4_096;

/** Counts new owners per connection and minute. */
export class Newcomers {
  readonly #byConnection = new Map<PeerId, { count: number; beganAtMs: Ms }>();
  #joinEndsAtMs: Ms | undefined;

  /** @param perMinuteMax New owners a minute and connection; `Infinity` in a mesh with a secret. */
  constructor(readonly perMinuteMax: number) {}

  /** Takes one new owner from the budget of a connection. @returns Whether there was room. */
  admit(from: PeerId, nowMs: Ms): boolean {
    if (this.perMinuteMax === Infinity) return true;
    this.#joinEndsAtMs ??= nowMs + minuteMs;
    if (nowMs < this.#joinEndsAtMs) return true;
    const former = this.#byConnection.get(from);
    const isCurrent = former !== undefined && nowMs - former.beganAtMs < minuteMs;
    const window = isCurrent ? former : { count: 0, beganAtMs: nowMs };
    if (window.count >= this.perMinuteMax) return false;
    window.count++;
    if (!isCurrent) this.#remember(from, window);
    return true;
  }

  /** The table holds no foreign claim any more: the next one begins a join again. */
  emptied(): void {
    this.#joinEndsAtMs = undefined;
  }

  #remember(from: PeerId, window: { count: number; beganAtMs: Ms }): void {
    this.#byConnection.delete(from);
    this.#byConnection.set(from, window);
    for (const oldest of this.#byConnection.keys()) {
      if (this.#byConnection.size <= connectionsMax) break;
      this.#byConnection.delete(oldest);
    }
  }
}
