// What of our bytes has not left yet, and what leaves next?
import { concatBytes } from "../base/concat_bytes.ts";
import { type Bytes, KiB } from "../base/units.ts";

/** Pieces go out together up to here; longer ones are not copied for it. */
const joinedBytesMax: Bytes = 64 * KiB;

/** Who hears of it. */
export type OutgoingOwner = {
  /** Everything that there was has left. */
  sent(): void;
  /** The connection broke. */
  close(): void;
};

/** Writes in order, one write at a time; what comes meanwhile leaves together. */
export class Outgoing {
  private unsent: Uint8Array<ArrayBuffer>[] = [];
  private unsentBytes: Bytes = 0;
  private writing: Uint8Array<ArrayBuffer> | undefined;
  private isHeld = false;
  private isDropped = false;
  private writeCount = 0;

  constructor(
    private readonly connection: Pick<Deno.Conn, "write">,
    private readonly owner: OutgoingOwner,
  ) {}

  get isEmpty(): boolean {
    return this.writing === undefined && this.unsent.length === 0;
  }

  /** Not taken by the system yet. */
  get bytes(): Bytes {
    return this.unsentBytes;
  }

  /** How many writes have succeeded, for those who look whether anything moves. */
  get writes(): number {
    return this.writeCount;
  }

  /** @param bytes Not changed by anybody from now on. */
  write(bytes: Uint8Array<ArrayBuffer>): void {
    this.unsent.push(bytes);
    this.unsentBytes += bytes.length;
    if (!this.isHeld) this.flush();
  }

  /** Lets what is written during `fill` leave together. */
  together(fill: () => void): void {
    this.isHeld = true;
    fill();
    this.isHeld = false;
    this.flush();
  }

  /** Nothing leaves any more, and nobody is told. */
  drop(): void {
    this.isDropped = true;
    this.unsent = [];
  }

  private flush(): void {
    if (this.writing || this.unsent.length === 0 || this.isDropped) return;
    this.writing = this.next();
    this.writeOn();
  }

  private next(): Uint8Array<ArrayBuffer> {
    const { unsent } = this;
    if (unsent.length === 1) return unsent.pop()!;
    let count = 1;
    let bytes = unsent[0].length;
    while (count < unsent.length && bytes + unsent[count].length <= joinedBytesMax) {
      bytes += unsent[count++].length;
    }
    return count === 1 ? unsent.shift()! : concatBytes(unsent.splice(0, count));
  }

  private writeOn(): void {
    this.connection.write(this.writing!).then(this.onWritten, this.onFailed);
  }

  private readonly onWritten = (count: number): void => {
    if (this.isDropped) return;
    this.writeCount++;
    this.unsentBytes -= count;
    if (count < this.writing!.length) {
      this.writing = this.writing!.subarray(count);
      return this.writeOn();
    }
    this.writing = undefined;
    if (this.unsent.length > 0) this.flush();
    else this.owner.sent();
  };

  private readonly onFailed = (): void => {
    if (!this.isDropped) this.owner.close();
  };
}
