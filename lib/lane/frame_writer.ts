// How do the frames of one turn of the event loop leave in one write?
import { assert } from "../base/assert.ts";
import { type Bytes, KiB } from "../base/units.ts";
import { writeU32 } from "../base/u32.ts";
import { frameHeaderBytes, payloadBytesMax } from "./frame.ts";

/** What a lane does with its bytes. */
export type LaneSink = {
  /** Sends a batch; false when the stream holds more than its bound and `Lane.drained` will follow. */
  send(batch: Uint8Array): boolean;
  /**
   * Asks for `flush` at the end of this turn; called at most twice until that happened, then without `mayWait`.
   * @param mayWait A millisecond more is no harm, if others come meanwhile.
   */
  requestFlush(mayWait: boolean): void;
};

/** A batch leaves early when the next frame would not fit: larger batches gained nothing (measured). */
const batchBytesMax: Bytes = 64 * KiB;

/**
 * Collects frames in one buffer and hands them over as one batch: noise, yamux and the system call are then paid once
 * for all of them. A batch is a part of the buffer, the next one the part behind it, and no part is used twice.
 */
export class FrameWriter {
  private scratch = new Uint8Array(batchBytesMax);
  /** Where the frames begin that have not left, and where they end. */
  private batchStart: Bytes = 0;
  private batchEnd: Bytes = 0;
  private asked: "nothing" | "later" | "now" = "nothing";
  /** Whether the stream said it holds enough; data waits then, control frames pass. */
  isBlocked = false;
  /** Batches handed to the stream so far. A frame written while this is n has left once it is above n. */
  batchCount = 0;

  constructor(private readonly sink: LaneSink) {}

  /**
   * Begins a frame and gives the place to write its payload to.
   * @param payloadBytes Exact; at most `payloadBytesMax`.
   * @param mayWait As `LaneSink.requestFlush`.
   * @returns The buffer and the offset of the payload in it, to be filled before anything else is written.
   */
  begin(type: number, id: number, payloadBytes: Bytes, mayWait = false): number {
    assert(payloadBytes <= payloadBytesMax, "a payload fits a frame");
    if (this.batchEnd + frameHeaderBytes + payloadBytes > batchBytesMax) this.renew();
    const scratch = this.scratch;
    const at = this.batchEnd;
    scratch[at] = type;
    writeU32(scratch, at + 1, id);
    writeU32(scratch, at + 5, payloadBytes);
    this.batchEnd = at + frameHeaderBytes + payloadBytes;
    this.askFlush(mayWait);
    return at + frameHeaderBytes;
  }

  /** Where `begin` points into, until the next `begin`. */
  get buffer(): Uint8Array {
    return this.scratch;
  }

  frame(type: number, id: number, payload?: Uint8Array, mayWait = false): void {
    const at = this.begin(type, id, payload?.length ?? 0, mayWait);
    if (payload) this.scratch.set(payload, at);
  }

  /** Asks for a flush, also when no frame was written yet. */
  askFlush(mayWait = false): void {
    if (this.asked === "now" || (mayWait && this.asked === "later")) return;
    this.asked = mayWait ? "later" : "now";
    this.sink.requestFlush(mayWait);
  }

  /** Sends what was collected; the end of the turn calls it through the lane. */
  flush(): void {
    this.asked = "nothing";
    if (this.batchEnd > this.batchStart) this.sendBatch();
  }

  private renew(): void {
    if (this.batchEnd > this.batchStart) this.sendBatch();
    this.scratch = new Uint8Array(batchBytesMax);
    this.batchStart = 0;
    this.batchEnd = 0;
  }

  private sendBatch(): void {
    const batch = this.scratch.subarray(this.batchStart, this.batchEnd);
    this.batchStart = this.batchEnd;
    this.batchCount += 1;
    if (!this.sink.send(batch)) this.isBlocked = true;
  }
}
