// What happens next in virtual time?
import type { Ms } from "../base/units.ts";

/** Something that will happen. */
export type Timed = { readonly atMs: Ms; readonly run: () => void };

/** A binary heap by time; what was put in first comes first among equals, so that runs repeat. */
export class EventQueue {
  readonly #heap: { readonly atMs: Ms; readonly order: number; readonly run: () => void }[] = [];
  #order = 0;

  get size(): number {
    return this.#heap.length;
  }

  /** When the next thing happens; `Infinity` when nothing will. */
  get nextAtMs(): Ms {
    return this.#heap.length > 0 ? this.#heap[0].atMs : Infinity;
  }

  add(atMs: Ms, run: () => void): void {
    const heap = this.#heap;
    const item = { atMs, order: this.#order++, run };
    let at = heap.length;
    heap.push(item);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (heap[parent].atMs <= atMs) break; // Its order is smaller.
      heap[at] = heap[parent];
      at = parent;
    }
    heap[at] = item;
  }

  /** Takes out what happens next; `undefined` when nothing will. */
  take(): Timed | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (!first || !last || heap.length === 0) return first;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1], heap[child])) child++;
      if (!isBefore(heap[child], last)) break;
      heap[at] = heap[child];
      at = child;
    }
    heap[at] = last;
    return first;
  }
}

type Ordered = { readonly atMs: Ms; readonly order: number };

function isBefore(a: Ordered, b: Ordered): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);
}
