// How does a test see that listeners pile up on a signal?

type Listener = Parameters<AbortSignal["addEventListener"]>[1];
type Held = { readonly listeners: Set<Listener>; composed: number; lastAddedBy: string };

/** The signal with the most listeners, and who came last: a pile is named by its newest piece. */
export type Pile = { readonly count: number; readonly lastAddedBy: string };

/**
 * Counts what is attached to each signal of this process until it is disposed of. Whatever is composed with a signal
 * by `AbortSignal.any` counts for good, since only the collector may take it off again.
 */
export class AbortListeners implements Disposable {
  readonly #held = new Map<AbortSignal, Held>();
  readonly #restore: () => void;

  constructor() {
    const { prototype } = AbortSignal;
    const { addEventListener, removeEventListener } = prototype;
    const { any } = AbortSignal;
    const of = (signal: AbortSignal) => this.#of(signal);
    prototype.addEventListener = function (this: AbortSignal, ...args: unknown[]) {
      const [type, listener] = args as [string, Listener];
      if (type === "abort") {
        const held = of(this);
        held.listeners.add(listener);
        held.lastAddedBy = new Error().stack ?? "";
      }
      return Reflect.apply(addEventListener, this, args);
    };
    prototype.removeEventListener = function (this: AbortSignal, ...args: unknown[]) {
      const [type, listener] = args as [string, Listener];
      if (type === "abort") of(this).listeners.delete(listener);
      return Reflect.apply(removeEventListener, this, args);
    };
    AbortSignal.any = (signals) => {
      const sources = [...signals];
      for (const source of sources) {
        const held = of(source);
        held.composed++;
        held.lastAddedBy = new Error().stack ?? "";
      }
      return Reflect.apply(any, AbortSignal, [sources]);
    };
    this.#restore = () => {
      Object.assign(prototype, { addEventListener, removeEventListener });
      AbortSignal.any = any;
    };
  }

  /** Of the signals that have not aborted. */
  largestPile(): Pile {
    let largest: Pile = { count: 0, lastAddedBy: "nobody" };
    for (const [signal, { listeners, composed, lastAddedBy }] of this.#held) {
      const count = listeners.size + composed;
      if (!signal.aborted && count > largest.count) largest = { count, lastAddedBy };
    }
    return largest;
  }

  [Symbol.dispose](): void {
    this.#restore();
  }

  #of(signal: AbortSignal): Held {
    let held = this.#held.get(signal);
    if (!held) {
      this.#held.set(signal, held = { listeners: new Set(), composed: 0, lastAddedBy: "" });
    }
    return held;
  }
}
