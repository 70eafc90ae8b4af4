// How does a request's body reach the engine as it arrives?
import type { Bytes } from "../base/units.ts";

/**
 * A queue between the lane and the engine's connection: pieces in, an async iterable out. Bounded by the
 * credit of the requester, which is granted as the engine takes bytes.
 */
export class RequestBody implements AsyncIterable<Uint8Array> {
  private readonly queue: Uint8Array[] = [];
  private isEnded = false;
  private error: Error | undefined;
  private wake: (() => void) | undefined;

  constructor(private readonly onConsumed: (bytes: Bytes) => void) {}

  /** @param chunk Copied. */
  push(chunk: Uint8Array): void {
    if (this.isEnded || chunk.length === 0) return;
    this.queue.push(chunk.slice());
    this.wake?.();
  }

  end(): void {
    this.isEnded = true;
    this.wake?.();
  }

  /** The requester is gone: the engine's connection breaks, so that it cannot take half a body for a whole. */
  fail(error: Error): void {
    this.error = error;
    this.end();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for (;;) {
      const chunk = this.queue.shift();
      if (chunk) {
        yield chunk;
        this.onConsumed(chunk.length);
      } else if (this.error) throw this.error;
      else if (this.isEnded) return;
      else await new Promise<void>((resolve) => this.wake = resolve);
    }
  }
}
