// What must be known of a stream of events that passes by?
import { type Bytes, KiB } from "../base/units.ts";
import { SseParser } from "./sse_parser.ts";

/** `"error"`, as a key of JSON; inside a JSON string its quotes would be escaped. */
const mark = new TextEncoder().encode('"error"');
/** An unfinished event longer than this is not looked into. */
const unfinishedBytesMax: Bytes = 64 * KiB;

const lf = 0x0a;
const cr = 0x0d;

/**
 * Watches server-sent events, or lines of JSON, pass by: whether they stand at a boundary, and whether an error
 * object was among them. Looks at each byte once and parses only what holds the word, so that a token costs
 * next to nothing. Changes nothing.
 */
export class StreamTap {
  /** An engine said inside its stream that it failed. */
  sawError = false;
  /** Any byte has passed. */
  sawBytes = false;
  private matched = 0;
  private isSuspicious = false;
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
    this.sawBytes = true;
    this.search(chunk);
    this.beforeThat = length > 2 ? chunk[length - 3] : length > 1 ? this.last : this.beforeLast;
    this.beforeLast = length > 1 ? chunk[length - 2] : this.last;
    this.last = chunk[length - 1];
    this.keep(chunk);
    if (!this.isAtBoundary) return;
    if (this.isSuspicious) this.inspect();
    this.isSuspicious = false;
    this.unfinished = [];
    this.unfinishedBytes = 0;
  }

  /** Whether the last event is complete, so that another one may follow. */
  get isAtBoundary(): boolean {
    const isLineEnd = this.last === lf || this.last === cr;
    if (this.isLines || !isLineEnd) return isLineEnd;
    const isCrLf = this.last === lf && this.beforeLast === cr;
    const previous = isCrLf ? this.beforeThat : this.beforeLast;
    return previous === lf || previous === cr;
  }

  private search(chunk: Uint8Array): void {
    let { matched } = this;
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at];
      if (byte === mark[matched]) {
        matched += 1;
        if (matched === mark.length) {
          this.isSuspicious = true;
          matched = 1; // Its last quote may begin another.
        }
      } else matched = byte === mark[0] ? 1 : 0;
    }
    this.matched = matched;
  }

  /** Chunks of an event that is not over; most events arrive whole, and then this keeps a reference for one call. */
  private keep(chunk: Uint8Array): void {
    if (this.unfinishedBytes + chunk.length > unfinishedBytesMax) {
      this.unfinished = [];
      this.unfinishedBytes = 0;
    }
    const isDone = this.isAtBoundary;
    if (isDone && !this.isSuspicious) return;
    this.unfinished.push(isDone ? chunk : chunk.slice());
    this.unfinishedBytes += chunk.length;
  }

  private inspect(): void {
    for (const text of this.isLines ? this.lines() : this.events()) {
      if (isError(text)) this.sawError = true;
    }
  }

  private events(): string[] {
    const parser = new SseParser();
    return this.unfinished.flatMap((chunk) => parser.push(chunk)).map(({ data }) => data);
  }

  private lines(): string[] {
    const decoder = new TextDecoder();
    const text = this.unfinished.map((chunk) => decoder.decode(chunk, { stream: true })).join("");
    return text.split(/\r?\n/);
  }
}

/** OpenAI's `{"error":{…}}`, Anthropic's `{"type":"error",…}`. */
function isError(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null) return false;
    const { error, type } = value as { error?: unknown; type?: unknown };
    return (error !== undefined && error !== null) || type === "error";
  } catch {
    return false;
  }
}
