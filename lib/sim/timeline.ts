// When does what happen in virtual time, and to whom?
import type { Ms } from "../base/units.ts";
import { EventQueue } from "./event_queue.ts";
import type { SimNode } from "./sim_node.ts";

/** Virtual time. Nothing in it waits. */
export class Timeline {
  nowMs: Ms = 0;
  /** Things that have happened. */
  stepCount = 0;
  readonly #queue = new EventQueue();

  /** Lets time pass. */
  runForMs(ms: Ms): void {
    const endMs = this.nowMs + ms;
    while (this.#queue.nextAtMs <= endMs) {
      const next = this.#queue.take();
      if (!next) break;
      this.nowMs = next.atMs;
      this.stepCount++;
      next.run();
    }
    this.nowMs = endMs;
  }

  /** Does something at that time. */
  at(atMs: Ms, run: () => void): void {
    this.#queue.add(Math.max(atMs, this.nowMs), run);
  }

  /** Does something in a node's process after a while; never when that has ended, and later when it is frozen. */
  in(node: SimNode, afterMs: Ms, run: () => void): void {
    const { run: process } = node;
    this.#queue.add(this.nowMs + afterMs, () => {
      if (node.run !== process || !node.isUp) return;
      if (node.isPaused(this.nowMs)) node.held.push(run);
      else run();
    });
  }
}
