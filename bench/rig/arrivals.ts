// Which requests met a worker that was no more?
import type { NodeProcess } from "../../tests/support/node_process.ts";

/** So long a request may take that met a frozen worker: a lane gives up after 4 s. */
const requestMsMax = 10_000;

/** Requests at a steady rate; the head's log tells how often each was tried. */
export class Arrivals implements Disposable {
  /** When each began, by the head's name for it. */
  readonly #beganMs = new Map<string, number>();
  readonly #timer: ReturnType<typeof setInterval>;
  readonly #running = new Set<Promise<void>>();
  failedCount = 0;

  constructor(readonly head: NodeProcess, perS: number) {
    this.#timer = setInterval(() => this.#begin(), 1_000 / perS);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  /** Waits until those that run now are answered, or have taken too long. */
  async settled(): Promise<void> {
    await Promise.all(this.#running);
  }

  /** When the last request since then began that was tried more than once; that time itself when none was. */
  lastRetriedSince(sinceMs: number): number {
    let lastMs = sinceMs;
    for (const line of this.head.program.stderr.text.split("\n")) {
      const id = /request\.done .*?requestId=(\S+)/.exec(line)?.[1];
      const attempts = Number(/ attempts=(\d+)/.exec(line)?.[1] ?? 1);
      const isUnhappy = attempts > 1 || / outcome=(?!ok)/.test(line);
      const beganMs = id === undefined ? undefined : this.#beganMs.get(id);
      if (isUnhappy && beganMs !== undefined && beganMs >= sinceMs) {
        lastMs = Math.max(lastMs, beganMs);
      }
    }
    return lastMs;
  }

  #begin(): void {
    const asked: Promise<void> = this.#ask().finally(() => this.#running.delete(asked));
    this.#running.add(asked);
  }

  async #ask(): Promise<void> {
    const beganMs = performance.now();
    try {
      const response = await fetch(`${this.head.http}/v1/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        signal: AbortSignal.timeout(requestMsMax),
        body: JSON.stringify({ model: "m", messages: [{ role: "user", content: "hello" }] }),
      });
      await response.text();
      this.#beganMs.set(response.headers.get("x-request-id") ?? "", beganMs);
      if (response.status !== 200) this.failedCount++;
    } catch {
      this.failedCount++;
    }
  }
}
