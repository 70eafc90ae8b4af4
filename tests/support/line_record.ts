// What did a program say, and has it said what we wait for?
import type { Ms } from "../../lib/base/units.ts";

/** Lines kept of one output; older ones are forgotten (guess: a verbose test run stays below it). */
const linesMax = 10_000;
/** A longer line is cut, so that a program without line ends cannot fill our memory. */
const lineCharactersMax = 64 * 1024;

type Waiting = { readonly offer: (line: string) => void; readonly fail: (why: string) => void };

/** The lines of one output of a program, read as they come. */
export class LineRecord {
  /** Settles when the output has ended. Never rejects. */
  readonly ended: Promise<void>;

  readonly #lines: string[] = [];
  readonly #waiting = new Set<Waiting>();
  #isEnded = false;

  constructor(stream: ReadableStream<Uint8Array<ArrayBuffer>>) {
    this.ended = this.#read(stream);
  }

  /** Whether nothing more will come. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** Everything kept so far. */
  get text(): string {
    return this.#lines.join("\n");
  }

  /** The last line that is not blank; empty when there is none. */
  get lastLine(): string {
    return this.#lines.findLast((line) => line.trim() !== "")?.trim() ?? "";
  }

  /**
   * The first line, past or to come, of which `match` makes something.
   * @param match Returns `undefined` for a line that is not the one.
   * @throws {Error} When the output ends or the deadline passes before such a line.
   */
  async waitFor<T>(match: (line: string) => T | undefined, deadlineMs: Ms): Promise<T> {
    for (const line of this.#lines) {
      const found = match(line);
      if (found !== undefined) return found;
    }
    if (this.#isEnded) throw new Error(this.#explain("its output has ended"));
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const waiting: Waiting = {
      offer: (line) => {
        const found = match(line);
        if (found !== undefined) resolve(found);
      },
      fail: (why) => reject(new Error(this.#explain(why))),
    };
    this.#waiting.add(waiting);
    const timer = setTimeout(() => waiting.fail(`${deadlineMs} ms have passed`), deadlineMs);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(waiting);
    }
  }

  #explain(why: string): string {
    return `The line waited for did not come and ${why}; last line: "${this.lastLine}"`;
  }

  async #read(stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<void> {
    let rest = "";
    try {
      for await (const text of stream.pipeThrough(new TextDecoderStream())) {
        const lines = (rest + text).split("\n");
        rest = lines.pop()!.slice(0, lineCharactersMax);
        for (const line of lines) this.#add(line);
      }
    } catch { // A killed program tears its pipe down; what it said before is kept.
    }
    if (rest !== "") this.#add(rest);
    this.#isEnded = true;
    for (const waiting of this.#waiting) waiting.fail("its output has ended");
  }

  #add(line: string): void {
    this.#lines.push(line);
    if (this.#lines.length > linesMax) this.#lines.shift();
    for (const waiting of this.#waiting) waiting.offer(line);
  }
}
