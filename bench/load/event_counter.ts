// How many server-sent events has a stream brought so far?

const newline = 10;
const carriageReturn = 13;
const letterD = "d".charCodeAt(0);

/**
 * Counts events with data. Comments are none, so a proxy that adds keep-alive lines of its own neither
 * gains nor hides an event. Works byte by byte, so it does not matter where reads cut the stream.
 */
export class EventCounter {
  #isLineEmpty = true;
  #hasData = false;

  /** @returns How many events these bytes complete. */
  accept(bytes: Uint8Array, from: number, to: number): number {
    let count = 0;
    for (let at = from; at < to; at++) {
      const byte = bytes[at];
      if (byte === newline) {
        if (this.#isLineEmpty && this.#hasData) {
          count++;
          this.#hasData = false;
        }
        this.#isLineEmpty = true;
      } else if (this.#isLineEmpty && byte !== carriageReturn) {
        this.#isLineEmpty = false;
        if (byte === letterD) this.#hasData = true;
      }
    }
    return count;
  }

  reset(): void {
    this.#isLineEmpty = true;
    this.#hasData = false;
  }
}
