// How are a client's bytes read, and only as fast as they are wanted?
import { type Bytes, KiB } from "../base/units.ts";

/** Heads fit; a full read exchanges the buffer for the larger one, so an idle connection holds little. */
const readBytesMin: Bytes = 4 * KiB;
const readBytesMax: Bytes = 64 * KiB;

/** Who takes the bytes. */
export type IncomingOwner = {
  /** @param chunk Valid until the call returns. */
  bytes(chunk: Uint8Array): void;
  /** Whether nothing more should be read until `goOn`. */
  readonly mustWait: boolean;
  /** Whether the connection should hold no more memory than needed. */
  readonly isIdle: boolean;
  /** The client closed its side, or the connection broke. Also after `end`. */
  ended(): void;
};

/** Reads a connection to its end. */
export class Incoming {
  private resume: (() => void) | undefined;
  private isOver = false;

  constructor(
    private readonly connection: Pick<Deno.Conn, "read">,
    private readonly owner: IncomingOwner,
  ) {}

  /** Never rejects. */
  async run(): Promise<void> {
    let buffer = new Uint8Array(readBytesMin);
    try {
      while (!this.isOver) {
        const count = await this.connection.read(buffer);
        if (count === null || this.isOver) break;
        this.owner.bytes(buffer.subarray(0, count));
        if (this.owner.mustWait) await new Promise<void>((resolve) => this.resume = resolve);
        if (count === buffer.length && count < readBytesMax) buffer = new Uint8Array(readBytesMax);
        else if (this.owner.isIdle && buffer.length > readBytesMin) {
          buffer = new Uint8Array(readBytesMin);
        }
      }
    } catch {
      // The client broke the connection, or we closed it.
    }
    this.owner.ended();
  }

  /** What made it wait may be over. */
  goOn(): void {
    if (!this.resume || !this.isOver && this.owner.mustWait) return;
    const { resume } = this;
    this.resume = undefined;
    resume();
  }

  /** Nobody takes bytes any more. */
  end(): void {
    this.isOver = true;
    this.goOn();
  }
}
