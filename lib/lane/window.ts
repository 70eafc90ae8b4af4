// How much may be on its way to one reader?
import { type Bytes, KiB, MiB, type Ms } from "../base/units.ts";

/** Every exchange starts with this: a chat answer fits, so it never waits for credit. */
export const windowStartBytes: Bytes = 64 * KiB;
/** What a reader that stopped reading is cut to, and what new exchanges get when memory is short. */
export const windowMinBytes: Bytes = 16 * KiB;
/** 20 MB/s over 80 ms round trips need 1.6 MB; source: issue's numbers, with room for jitter. */
export const windowMaxBytes: Bytes = 4 * MiB;
/** All windows of a process together. Source: protocol, "Lanes". */
export const windowsBytesMax: Bytes = 256 * MiB;
/** A window that was not drained for this long shrinks. Source: protocol, "Lanes". */
const undrainedMs: Ms = 1_000;
/**
 * A large window is granted again in pieces of this. In halves, half of it lies idle: 4 MiB over 80 ms were
 * 26 MB/s at best, and 15 on a busy machine.
 */
const grantBytesMax: Bytes = 256 * KiB;
/** Two round trips on loopback are below a timer's grain; a guess that only speeds growth up there. */
const fastDrainMsMin: Ms = 10;

/** What all windows of a process may take together. */
export class WindowBudget {
  private usedBytes: Bytes = 0;

  constructor(private readonly bytesMax: Bytes = windowsBytesMax) {}

  /** @returns The window a new exchange may announce; 0 when there is no memory for it. */
  reserve(): Bytes {
    for (const bytes of [windowStartBytes, windowMinBytes]) {
      // The last quarter is kept for small windows, so that a few large ones do not shut the door.
      const limit = bytes === windowMinBytes ? this.bytesMax : this.bytesMax * 0.75;
      if (this.usedBytes + bytes <= limit) {
        this.usedBytes += bytes;
        return bytes;
      }
    }
    return 0;
  }

  /** @returns Whether there was memory for a window, or for one to grow, by `bytes`. */
  grow(bytes: Bytes): boolean {
    if (this.usedBytes + bytes > this.bytesMax * 0.75) return false;
    this.usedBytes += bytes;
    return true;
  }

  release(bytes: Bytes): void {
    this.usedBytes -= bytes;
  }

  get reservedBytes(): Bytes {
    return this.usedBytes;
  }
}

/**
 * The receiving side of one body: grants credit as its reader drains, twice the window when it drains within
 * two round trips, and only a little to a reader that has stopped.
 */
export class ReceiveWindow {
  /** Consumed and not granted again yet. */
  private owedBytes: Bytes = 0;
  /** Consumed since `judgedAtMs`. */
  private drainedBytes: Bytes = 0;
  /** What the sender may still send. */
  private allowedBytes: Bytes;
  private judgedAtMs: Ms;
  /** What a slow reader's window is still to lose. */
  private excessBytes: Bytes = 0;

  /** @param windowBytes Reserved from `budget`, announced to the sender. */
  constructor(
    private windowBytes: Bytes,
    private readonly budget: WindowBudget,
    nowMs: Ms,
  ) {
    this.judgedAtMs = nowMs;
    this.allowedBytes = windowBytes;
  }

  /** Bytes arrived. @returns False when the sender overran its credit: end the exchange. */
  received(bytes: Bytes): boolean {
    this.allowedBytes -= bytes;
    return this.allowedBytes >= 0;
  }

  /**
   * The reader took bytes.
   * @param roundTripMs To the sender, as last measured.
   * @returns Credit to grant now; 0 when it can wait until more of the window is free.
   */
  consumed(bytes: Bytes, nowMs: Ms, roundTripMs: Ms): Bytes {
    this.owedBytes += bytes;
    this.drainedBytes += bytes;
    if (this.owedBytes < Math.min(this.windowBytes / 2, grantBytesMax)) return 0;
    const more = this.judge(nowMs, roundTripMs);
    const grant = this.owedBytes + more - this.shrink();
    this.owedBytes = 0;
    this.allowedBytes += grant;
    return grant;
  }

  /** Gives the memory back; call once. */
  close(): void {
    this.budget.release(this.windowBytes);
    this.windowBytes = 0;
  }

  /** Once half of the window was drained: was that fast or slow? @returns How much the window grew. */
  private judge(nowMs: Ms, roundTripMs: Ms): Bytes {
    if (this.drainedBytes < this.windowBytes / 2) return 0;
    const sinceMs = nowMs - this.judgedAtMs;
    const isSlow = sinceMs > undrainedMs;
    this.excessBytes = isSlow ? Math.min(this.drainedBytes, this.windowBytes - windowMinBytes) : 0;
    this.drainedBytes = 0;
    this.judgedAtMs = nowMs;
    return sinceMs <= Math.max(2 * roundTripMs, fastDrainMsMin) ? this.grow() : 0;
  }

  private grow(): Bytes {
    const more = Math.min(this.windowBytes, windowMaxBytes - this.windowBytes);
    if (more <= 0 || !this.budget.grow(more)) return 0;
    this.windowBytes += more;
    return more;
  }

  /** @returns How much of what is owed is kept back. */
  private shrink(): Bytes {
    const less = Math.min(this.owedBytes, this.excessBytes);
    if (less === 0) return 0;
    this.excessBytes -= less;
    this.windowBytes -= less;
    this.budget.release(less);
    return less;
  }
}
