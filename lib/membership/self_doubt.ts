// How far does this node trust its own silence?
import type { Ms } from "../base/units.ts";
import { doubtMax, lateMs } from "./defaults.ts";

/**
 * Lifeguard's local health (arXiv 1707.00788 §IV): who hears less than it should suspects itself first, and waits
 * longer before it suspects others.
 */
export class SelfDoubt {
  #doubt = 0;
  #expectedAtMs = Infinity;

  /** Timeouts are multiplied by this: 1 when all is well, at most 9. */
  get factor(): number {
    return 1 + this.#doubt;
  }

  /** A probe was answered. */
  eased(): void {
    this.#doubt = Math.max(0, this.#doubt - 1);
  }

  /** Something that should have arrived whatever the state of the probed peer did not. */
  raised(): void {
    this.#doubt = Math.min(doubtMax, this.#doubt + 1);
  }

  /** We asked to be woken then. */
  expects(atMs: Ms): void {
    this.#expectedAtMs = atMs;
  }

  /** How much later than asked it is when that shows that we were frozen; else 0. */
  frozenMs(nowMs: Ms): Ms {
    const late = nowMs - this.#expectedAtMs;
    return late > lateMs ? late : 0;
  }
}
