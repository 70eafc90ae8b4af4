// Which rumours leave with the next message, and when have they been told often enough?
import type { PeerId } from "../base/peer_id.ts";
import { retransmitMult, rumoursPerMessageMax, rumoursWaitingMax } from "./defaults.ts";
import { compareIncarnations, type Incarnation } from "./incarnation.ts";
import type { Rumour } from "./rumour.ts";

/** A rumour and how often it may still leave. */
type Waiting = { readonly rumour: Rumour; leftCount: number };

/** Times a rumour leaves each node in a mesh of so many: memberlist's `retransmitLimit`. */
export function retransmitLimit(peerCount: number): number {
  return retransmitMult * Math.ceil(Math.log10(peerCount + 1));
}

/** Rumours that ride on probes and answers, in turn; a newer one of the same signer and subject replaces. */
export class RumourQueue {
  readonly #waiting = new Map<string, Waiting>();

  get size(): number {
    return this.#waiting.size;
  }

  /** @param timesMax How often it leaves. */
  add(rumour: Rumour, timesMax: number): void {
    const key = keyOf(rumour.subject, rumour.signer);
    this.#waiting.delete(key);
    if (this.#waiting.size >= rumoursWaitingMax) {
      const oldest = this.#waiting.keys().next().value;
      if (oldest !== undefined) this.#waiting.delete(oldest);
    }
    this.#waiting.set(key, { rumour, leftCount: timesMax });
  }

  /** A peer was seen at this incarnation: what was said of earlier ones is over. */
  dropFailures(subject: PeerId, incarnation: Incarnation): void {
    for (const [key, { rumour }] of this.#waiting) {
      if (rumour.subject !== subject || rumour.kind !== "failed") continue;
      if (compareIncarnations(rumour.incarnation, incarnation) < 0) this.#waiting.delete(key);
    }
  }

  /** The rumours for one message; each counts as told once more. */
  take(): readonly Rumour[] {
    if (this.#waiting.size === 0) return none;
    const chosen: Rumour[] = [];
    for (const [key, waiting] of this.#waiting) {
      if (chosen.length === rumoursPerMessageMax || chosen.includes(waiting.rumour)) break;
      chosen.push(waiting.rumour);
      // The next message takes up where this one ends.
      this.#waiting.delete(key);
      if (--waiting.leftCount > 0) this.#waiting.set(key, waiting);
    }
    return chosen;
  }
}

const none: readonly Rumour[] = [];

function keyOf(subject: PeerId, signer: PeerId): string {
  return `${subject} ${signer}`;
}
