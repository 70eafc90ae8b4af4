// How do bodies share a lane, each held back by its own reader alone?
import type { Bytes } from "../base/units.ts";
import { FrameType, payloadBytesMax } from "./frame.ts";
import type { FrameWriter } from "./frame_writer.ts";

/** The types that carry bodies and messages, and need credit. */
export type BodyFrameType =
  | typeof FrameType.data
  | typeof FrameType.text
  | typeof FrameType.binary;

type Pending = { readonly type: BodyFrameType; readonly bytes: Uint8Array; at: number };

/** Serves the bodies that have both bytes and credit in turn, a frame each, while the stream takes more. */
export class Outbox {
  private readonly ready: BodySender[] = [];
  private isPumping = false;

  constructor(readonly writer: FrameWriter) {}

  /** A sender that has something to send and may. */
  offer(sender: BodySender): void {
    this.ready.push(sender);
    this.pump();
  }

  /** Sends what may be sent; called again when the stream has drained. */
  pump(): void {
    // A sender that was emptied asks its owner for more, who may send at once: it goes to the end of the line.
    if (this.isPumping) return;
    this.isPumping = true;
    try {
      while (this.ready.length > 0 && !this.writer.isBlocked) {
        const sender = this.ready.shift()!;
        if (sender.sendOne()) this.ready.push(sender);
      }
    } finally {
      this.isPumping = false;
    }
  }

  /** Whether nobody else waits, so that a body may be written without standing in line. */
  get isFree(): boolean {
    return this.ready.length === 0;
  }
}

/**
 * The sending side of one body. Takes bytes at any time; says when its owner should pause. What waits is
 * bounded by an owner who does pause: one chunk more than the credit.
 */
export class BodySender {
  private readonly pending: Pending[] = [];
  private pendingTotal: Bytes = 0;
  private isOffered = false;
  private afterPending: (() => void) | undefined;
  private isDropped = false;
  private hasBegun = false;

  /**
   * @param creditBytes What the reader announced.
   * @param onWritable Called when everything waiting has been sent after `send` returned false.
   */
  constructor(
    private readonly id: number,
    private readonly outbox: Outbox,
    private creditBytes: Bytes,
    private readonly onWritable: () => void,
  ) {}

  /** Bytes taken over and not yet written. */
  get pendingBytes(): Bytes {
    return this.pendingTotal;
  }

  /**
   * Sends a piece of the body.
   * @param chunk Copied as far as it cannot leave at once.
   * @returns Whether more may come now; after false wait for `onWritable`.
   */
  send(chunk: Uint8Array): boolean {
    if (this.isDropped) return true;
    let at = 0;
    if (this.pendingTotal === 0 && this.outbox.isFree) {
      const writer = this.outbox.writer;
      while (at < chunk.length && this.creditBytes > 0 && !writer.isBlocked) {
        const end = Math.min(chunk.length, at + payloadBytesMax, at + this.creditBytes);
        // The first piece is waited for; those behind it come one after another.
        writer.frame(FrameType.data, this.id, chunk.subarray(at, end), this.hasBegun);
        this.hasBegun = true;
        this.creditBytes -= end - at;
        at = end;
      }
    }
    if (at === chunk.length) return true;
    this.queue(FrameType.data, chunk.slice(at));
    return false;
  }

  /** Sends one message of a WebSocket. @param message Taken over. @returns Bytes now waiting. */
  sendMessage(type: typeof FrameType.text | typeof FrameType.binary, message: Uint8Array): Bytes {
    if (!this.isDropped) this.queue(type, message);
    return this.pendingTotal;
  }

  /** Runs `write` after everything that waits has been sent. */
  finish(write: () => void): void {
    if (this.isDropped) return;
    if (this.pending.length === 0) write();
    else this.afterPending = write;
  }

  grant(bytes: Bytes): void {
    this.creditBytes += bytes;
    this.offer();
  }

  /** Takes bytes that travelled with the head off the credit. */
  spend(bytes: Bytes): void {
    if (bytes > 0) this.hasBegun = true;
    this.creditBytes -= bytes;
  }

  /** How much may leave beside a head: heads pass a stream that is full, but bodies wait for it. */
  get roomBeside(): Bytes {
    return this.outbox.writer.isBlocked ? 0 : Math.max(0, this.creditBytes);
  }

  get credit(): Bytes {
    return this.creditBytes;
  }

  /** Forgets what waits: the exchange is over. */
  drop(): void {
    this.isDropped = true;
    this.pending.length = 0;
    this.pendingTotal = 0;
    this.afterPending = undefined;
  }

  /** Writes one frame. @returns Whether more could follow now. */
  sendOne(): boolean {
    const first = this.pending[0];
    if (!first || this.creditBytes <= 0) {
      this.isOffered = false;
      return false;
    }
    this.write(first);
    const mayGoOn = this.pending.length > 0 && this.creditBytes > 0;
    this.isOffered = mayGoOn;
    if (this.pending.length === 0) this.drained();
    return mayGoOn;
  }

  private queue(type: BodyFrameType, bytes: Uint8Array): void {
    this.pending.push({ type, bytes, at: 0 });
    this.pendingTotal += bytes.length;
    this.offer();
  }

  private offer(): void {
    if (this.isOffered || this.pending.length === 0 || this.creditBytes <= 0) return;
    this.isOffered = true;
    this.outbox.offer(this);
  }

  private write(item: Pending): void {
    const flagBytes = item.type === FrameType.data ? 0 : 1;
    const room = Math.min(payloadBytesMax - flagBytes, Math.max(this.creditBytes, 1));
    const end = Math.min(item.bytes.length, item.at + room);
    const writer = this.outbox.writer;
    const at = writer.begin(item.type, this.id, end - item.at + flagBytes);
    // A message's frames carry one flag byte: 1 on the last.
    if (flagBytes > 0) writer.buffer[at] = end === item.bytes.length ? 1 : 0;
    writer.buffer.set(item.bytes.subarray(item.at, end), at + flagBytes);
    this.creditBytes -= end - item.at;
    this.pendingTotal -= end - item.at;
    item.at = end;
    if (end === item.bytes.length) this.pending.shift();
  }

  private drained(): void {
    if (this.afterPending) {
      const write = this.afterPending;
      this.afterPending = undefined;
      write();
    } else this.onWritable();
  }
}
