// Which clients have left while they waited for an answer to begin?
import { NumberTable } from "../base/number_table.ts";
import type { Ms } from "../base/units.ts";
import type { ServerRequest } from "../server/types.ts";

/** A client's leaving reaches the engine well within a second (issue: ≤ 1 s over both hops). */
const sweepMs: Ms = 200;

type Waiting = {
  readonly request: Pick<ServerRequest, "signal">;
  readonly gone: () => void;
  key: number;
  isNew: boolean;
};

/**
 * Looks at waiting requests a few times a second instead of listening to each: most answers come sooner, and a
 * listener costs more than the rest of a small request's bookkeeping. A request's signal aborts after
 * successful answers too, so only those that still wait are looked at.
 */
export class ClientSweep {
  private readonly waiting = new NumberTable<Waiting>();
  private timer: ReturnType<typeof setInterval> | undefined;

  /**
   * @param gone Called at most once.
   * @returns Must be called when the answer begins.
   */
  watch(request: Pick<ServerRequest, "signal">, gone: () => void): () => void {
    const entry: Waiting = { request, gone, key: 0, isNew: true };
    entry.key = this.waiting.add(entry);
    this.timer ??= setInterval(() => this.sweep(), sweepMs);
    return () => this.waiting.delete(entry.key);
  }

  close(): void {
    clearInterval(this.timer);
    this.timer = undefined;
  }

  private sweep(): void {
    for (const entry of this.waiting.values()) {
      // The signal is made on first look; a request that is answered within a sweep never makes one.
      if (entry.isNew) {
        entry.isNew = false;
        continue;
      }
      if (!entry.request.signal.aborted) continue;
      this.waiting.delete(entry.key);
      entry.gone();
    }
    if (this.waiting.size === 0) this.close();
  }
}
