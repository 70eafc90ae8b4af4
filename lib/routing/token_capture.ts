// How is one short token read that may be cut over chunks?
import { scanTokenBytesMax } from "./key_scanner.ts";

/** The bytes of a token: a range of somebody's buffer, valid until the next call. */
export type TokenBytes = {
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
};

/** Remembers where a token began and, only when a chunk ends inside it, its bytes so far: at most 4 KiB. */
export class TokenCapture {
  #start = 0;
  #carried: Uint8Array | undefined;
  #isTooLong = false;

  /** A token begins at this place of the current chunk. */
  begin(start: number): void {
    this.#start = start;
    this.#carried = undefined;
    this.#isTooLong = false;
  }

  /** The chunk is over before the token is: keeps a copy of its part. The next chunk begins inside it. */
  carry(chunk: Uint8Array, end: number): void {
    const before = this.#carried?.length ?? 0;
    const length = before + end - this.#start;
    this.#isTooLong ||= length > scanTokenBytesMax;
    if (!this.#isTooLong) {
      const joined = new Uint8Array(length);
      if (this.#carried) joined.set(this.#carried);
      joined.set(chunk.subarray(this.#start, end), before);
      this.#carried = joined;
    }
    this.#start = 0;
  }

  /**
   * The token ends before `end` of the current chunk.
   * @returns Its bytes, not copied when they lie in this chunk alone; `undefined` when they were too many.
   */
  take(chunk: Uint8Array, end: number): TokenBytes | undefined {
    if (this.#carried === undefined && !this.#isTooLong) {
      const isTooLong = end - this.#start > scanTokenBytesMax;
      return isTooLong ? undefined : { bytes: chunk, start: this.#start, end };
    }
    this.carry(chunk, end);
    if (this.#isTooLong || this.#carried === undefined) return undefined;
    return { bytes: this.#carried, start: 0, end: this.#carried.length };
  }
}
