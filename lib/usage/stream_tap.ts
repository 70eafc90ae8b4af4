// What must be known of a stream of events that passes by?
import { concatBytes } from "../base/concat_bytes.ts";
import { type Bytes, KiB, MiB } from "../base/units.ts";
import { SseParser } from "./sse_parser.ts";

/** `"error"`, as a key of JSON; inside a JSON string its quotes would be escaped. */
const mark = new TextEncoder().encode('"error"');
/** By a byte: how far the word moves on when that byte stands under its last one (Horspool). */
const markShifts = new Uint8Array(256).fill(mark.length);
for (let at = 0; at < mark.length - 1; at++) markShifts[mark[at]] = mark.length - 1 - at;
const seamBytes: Bytes = mark.length - 1;
/** What is kept of an event that is not over; a longer one is looked into from then on alone. */
const unfinishedBytesMax: Bytes = 64 * KiB;
/** A longer line of JSON is given up. */
const lineCharactersMax = 4 * MiB;

const nothing = new Uint8Array(0);
const lf = 0x0a;
const cr = 0x0d;

/** Texts that hold whole events. */
type Reader = {
  push(chunk: Uint8Array): string[];
  /** What came behind them and counts when nothing follows. */
  readonly rest: string;
};

/**
 * Watches server-sent events, or lines of JSON, pass by: whether they stand at a boundary, and whether an error
 * object was among them. Looks at about every seventh byte and parses only what holds the word, so that a token
 * costs next to nothing. Changes nothing.
 */
export class StreamTap {
  private hasError = false;
  /** The last bytes of an event that is not over: the word may be cut in two. */
  private seam: Uint8Array = nothing;
  /** There while the word was seen since the last boundary. */
  private reader: Reader | undefined;
  private unfinished: Uint8Array[] = [];
  private unfinishedBytes: Bytes = 0;
  private last = lf;
  private beforeLast = lf;
  private beforeThat = lf;

  /** @param isLines JSON lines: every line is an event. */
  constructor(private readonly isLines: boolean = false) {}

  push(chunk: Uint8Array): void {
    const { length } = chunk;
    if (length === 0) return;
    const isSuspicious = this.search(chunk);
    this.beforeThat = length > 2 ? chunk[length - 3] : length > 1 ? this.last : this.beforeLast;
    this.beforeLast = length > 1 ? chunk[length - 2] : this.last;
    this.last = chunk[length - 1];
    if (isSuspicious && !this.reader) this.open();
    if (this.reader) this.inspect(chunk);
    if (this.isAtBoundary) {
      this.seam = nothing;
      return this.forget();
    }
    this.keepSeam(chunk);
    if (!this.reader) this.keep(chunk);
  }

  /** Whether an engine said inside its stream that it failed; a last line of JSON need not be ended. */
  get sawError(): boolean {
    return this.hasError || isError(this.reader?.rest ?? "");
  }

  /** Whether the last event is complete, so that another one may follow. */
  get isAtBoundary(): boolean {
    return this.isEnd(this.beforeThat, this.beforeLast, this.last);
  }

  private isEnd(beforeThat: number, beforeLast: number, last: number): boolean {
    const isLineEnd = last === lf || last === cr;
    if (this.isLines || !isLineEnd) return isLineEnd;
    const isCrLf = last === lf && beforeLast === cr;
    const previous = isCrLf ? beforeThat : beforeLast;
    return previous === lf || previous === cr;
  }

  /** @returns Whether the word ended in this chunk. */
  private search(chunk: Uint8Array): boolean {
    if (this.seam.length === 0) return hasMark(chunk);
    return hasMark(concatBytes([this.seam, chunk.subarray(0, seamBytes)])) || hasMark(chunk);
  }

  private keepSeam(chunk: Uint8Array): void {
    const end = chunk.length >= seamBytes ? chunk : concatBytes([this.seam, chunk]);
    this.seam = end.slice(-seamBytes);
  }

  /** Keeps the start of an event that is not over; most events arrive whole, and then nothing is kept. */
  private keep(chunk: Uint8Array): void {
    const start = this.lastBoundary(chunk);
    if (start > 0 || this.unfinishedBytes + chunk.length > unfinishedBytesMax) this.forget();
    this.unfinished.push(chunk.slice(start));
    this.unfinishedBytes += chunk.length - start;
  }

  /** @returns Where in a chunk its last event begins; 0 when the chunk has no boundary. */
  private lastBoundary(chunk: Uint8Array): number {
    for (let end = chunk.length; end >= 3; end--) {
      if (this.isEnd(chunk[end - 3], chunk[end - 2], chunk[end - 1])) return end;
    }
    return 0;
  }

  private forget(): void {
    this.reader = undefined;
    if (this.unfinishedBytes === 0) return;
    this.unfinished = [];
    this.unfinishedBytes = 0;
  }

  private open(): void {
    this.reader = this.isLines ? new LineReader() : new EventReader();
    for (const chunk of this.unfinished) this.inspect(chunk);
  }

  private inspect(chunk: Uint8Array): void {
    for (const text of this.reader!.push(chunk)) if (isError(text)) this.hasError = true;
  }
}

/** Whether the word stands in the bytes (Horspool's search). */
function hasMark(bytes: Uint8Array): boolean {
  const last = mark.length - 1;
  for (let end = last; end < bytes.length; end += markShifts[bytes[end]]) {
    let at = 0;
    while (at <= last && bytes[end - at] === mark[last - at]) at++;
    if (at > last) return true;
  }
  return false;
}

class EventReader implements Reader {
  /** The HTML standard drops an event that was not ended. */
  readonly rest = "";
  private readonly parser = new SseParser();

  push(chunk: Uint8Array): string[] {
    return this.parser.push(chunk).map(({ data }) => data);
  }
}

class LineReader implements Reader {
  private readonly decoder = new TextDecoder();
  rest = "";

  push(chunk: Uint8Array): string[] {
    const lines = this.decoder.decode(chunk, { stream: true }).split(/\r\n|\n|\r/);
    lines[0] = this.rest + lines[0];
    this.rest = lines.pop() ?? "";
    if (this.rest.length > lineCharactersMax) this.rest = "";
    return lines;
  }
}

/** OpenAI's `{"error":{…}}`, Anthropic's `{"type":"error",…}`. */
function isError(text: string): boolean {
  if (text === "") return false;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null) return false;
    const { error, type } = value as { error?: unknown; type?: unknown };
    return (error !== undefined && error !== null) || type === "error";
  } catch {
    return false;
  }
}
