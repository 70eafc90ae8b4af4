// How does a request's body get from its reader to the lane, no faster than the lane takes it?
import type { BodyStream } from "./types.ts";

/** Where the pieces go. */
export type BodyTarget = {
  /** @returns False to pause until `writable`. */
  send(chunk: Uint8Array): boolean;
  end(): void;
  /** The body broke off. */
  fail(error: unknown): void;
};

/** Reads a stream to its end into a target; stops when told. */
export class BodyPump {
  private readonly reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>;
  private wake: (() => void) | undefined;
  private isStopped = false;

  constructor(body: BodyStream, private readonly target: BodyTarget) {
    this.reader = body.getReader();
    void this.run();
  }

  /** The target takes more. */
  writable(): void {
    this.wake?.();
  }

  /** Nobody wants the rest: whoever writes it is told so. Idempotent. */
  stop(): void {
    if (this.isStopped) return;
    this.isStopped = true;
    this.wake?.();
    this.reader.cancel("the rest of the body is not wanted").catch(() => {});
  }

  private async run(): Promise<void> {
    try {
      while (!this.isStopped) {
        const { done, value } = await this.reader.read();
        if (this.isStopped) return;
        if (done) return this.finish();
        if (!this.target.send(value)) await new Promise<void>((resolve) => this.wake = resolve);
      }
    } catch (error) {
      if (!this.isStopped) this.target.fail(error);
      this.isStopped = true;
    }
  }

  private finish(): void {
    this.isStopped = true;
    this.target.end();
  }
}
