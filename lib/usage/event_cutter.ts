// Where may a stream of events be cut so that no event is halved?
import { concatBytes } from "../base/concat_bytes.ts";
import { type Bytes, MiB } from "../base/units.ts";

/** A longer event is passed on in pieces; then the stream can be cut nowhere. */
const eventBytesMax: Bytes = MiB;

const lf = 0x0a;
const cr = 0x0d;
const nothing: Uint8Array<ArrayBuffer> = new Uint8Array(0);

/**
 * Passes on whole events only and keeps the beginning of one that is not over. Engines write whole events, so
 * usually a chunk passes as it is, for a look at its last three bytes. Changes no byte.
 */
export class EventCutter {
  private held: Uint8Array<ArrayBuffer> = nothing;
  /** An event was too long: from then on everything passes at once. */
  isGivenUp = false;

  /** @returns All bytes up to the end of the last whole event, maybe none. */
  push(chunk: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
    if (this.isGivenUp) return chunk;
    const bytes = this.held.length === 0 ? chunk : concatBytes([this.held, chunk]);
    // What was held has no end in it, but its last bytes may belong to one.
    const cut = lastEventEnd(bytes, Math.max(0, this.held.length - 3));
    if (cut === bytes.length) {
      this.held = nothing;
      return bytes;
    }
    this.held = cut === 0 ? bytes : bytes.slice(cut);
    if (this.held.length <= eventBytesMax) return bytes.subarray(0, cut);
    this.isGivenUp = true;
    this.held = nothing;
    return bytes;
  }

  /** The stream is over: what was held, half an event. */
  take(): Uint8Array<ArrayBuffer> {
    const { held } = this;
    this.held = nothing;
    return held;
  }
}

/**
 * Where the last whole event ends: behind an empty line, whatever line ends are used.
 * @param from Where to begin at the earliest.
 * @returns 0 when there is none.
 */
function lastEventEnd(bytes: Uint8Array, from: number): number {
  for (let end = bytes.length; end > from; end--) {
    const last = bytes[end - 1];
    if (last !== lf && last !== cr) continue;
    const isCrLf = last === lf && bytes[end - 2] === cr;
    const previous = bytes[isCrLf ? end - 3 : end - 2];
    if (previous === lf || previous === cr) return end;
  }
  return 0;
}
