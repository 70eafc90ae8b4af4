// What has a streamed completion said so far?
import { type Bytes, KiB, MiB } from "../base/units.ts";
import { type CompletionChunk, readCompletionEvent, type TokenUsage } from "./completion_chunk.ts";
import type { CompletionKind, CompletionRequest } from "./completion_request.ts";
import { SseParser } from "./sse_parser.ts";

/** Events kept as they came until they are read; most streams end well and are never read. A guess. */
const unreadBytesMax: Bytes = 64 * KiB;
/** What is taken for them first: some ten events. */
const unreadBytesMin: Bytes = 2 * KiB;
/** A longer text is not continued: it would have to be sent as a prompt. */
const textCharactersMax = MiB;

const nothing = new Uint8Array(0);

/** By which names a stream goes on. */
export type StreamNames = {
  readonly id: unknown;
  readonly created: unknown;
  readonly model: unknown;
  readonly fingerprint: unknown;
};

/**
 * Remembers the events that went to the client. Cheap while all is well: bytes are kept, not read, except the
 * first ones until something was said; beyond 64 KiB they are read and let go. They are copied to one place: kept
 * chunks were a quarter of what survived each collection (measured at 500 streams).
 */
export class CompletionLog {
  /** All text. */
  text = "";
  /** Events with text: about as many as tokens. */
  deltaCount = 0;
  /** How many of the last of them were blank. */
  blankCount = 0;
  finishReason: string | null = null;
  /** The engine ended its stream itself. */
  isDone = false;
  /** Any event went out, so that the answer has been opened. */
  isOpened = false;
  /** Why this is no stream that we understand; `undefined` as long as it is. */
  stranger: string | undefined;
  names: StreamNames | undefined;
  /** As the last event with usage said; `isUsageExact` when nothing was said after it. */
  usage: TokenUsage | undefined;
  isUsageExact = false;
  private readonly parser = new SseParser();
  private unread: Uint8Array = nothing;
  private unreadBytes: Bytes = 0;

  constructor(private readonly kind: CompletionKind) {}

  /** Whether any text or reason was sent, or anything not understood: what came before only opens the answer. */
  get hasSpoken(): boolean {
    return this.text !== "" || this.finishReason !== null || this.stranger !== undefined ||
      this.isDone;
  }

  /** @param chunk Whole events; valid until the call returns. */
  push(chunk: Uint8Array): void {
    if (this.unreadBytes + chunk.length > unreadBytesMax) this.read();
    if (!this.hasSpoken || chunk.length > unreadBytesMax) {
      this.read();
      return this.readEvents(chunk);
    }
    const end = this.unreadBytes + chunk.length;
    if (end > this.unread.length) this.grow(end);
    this.unread.set(chunk, this.unreadBytes);
    this.unreadBytes = end;
  }

  /** Reads what is unread; before any question is asked. */
  read(): void {
    const bytes = this.unreadBytes;
    this.unreadBytes = 0;
    if (bytes > 0) this.readEvents(this.unread.subarray(0, bytes));
  }

  /** The stream cannot be followed any more. */
  lose(why: string): void {
    this.stranger ??= why;
    this.unread = nothing;
    this.unreadBytes = 0;
  }

  private grow(bytesMin: Bytes): void {
    const grown = new Uint8Array(Math.max(unreadBytesMin, this.unread.length * 2, bytesMin));
    grown.set(this.unread.subarray(0, this.unreadBytes));
    this.unread = grown;
  }

  private readEvents(bytes: Uint8Array): void {
    for (const { data } of this.parser.push(bytes)) this.readEvent(data);
  }

  private readEvent(data: string): void {
    if (this.stranger !== undefined) return;
    this.isOpened = true;
    const event = readCompletionEvent(this.kind, data);
    if (event.type === "unknown") this.stranger = event.why;
    else if (event.type === "done") this.isDone = true;
    else this.readChunk(event.chunk);
  }

  private readChunk({ fields, text, finishReason, usage }: CompletionChunk): void {
    this.names ??= {
      id: fields.id,
      created: fields.created,
      model: fields.model,
      fingerprint: fields.system_fingerprint,
    };
    if (text !== "") {
      this.text += text;
      this.deltaCount++;
      this.blankCount = text.trim() === "" ? this.blankCount + 1 : 0;
      this.isUsageExact = false;
      if (this.text.length > textCharactersMax) this.stranger = "its text is too long";
    }
    if (finishReason !== null) this.finishReason = finishReason;
    if (!usage) return;
    this.usage = usage;
    this.isUsageExact = true;
  }
}

/**
 * Why a stream that broke off here cannot be continued.
 * @param log Read.
 * @returns `undefined` when it can.
 */
export function whyNotContinued(
  request: CompletionRequest,
  log: CompletionLog,
): string | undefined {
  if (log.stranger !== undefined) return log.stranger;
  if (log.finishReason !== null) return undefined;
  // Templates leave reasoning out of earlier messages, so an engine would not see what it goes on from.
  if (/<(think|thinking|reasoning)>|<\|channel\|>/.test(log.text)) return "its reasoning has begun";
  const isStopBegun = request.stops.some((stop) => {
    for (let length = Math.min(stop.length - 1, log.text.length); length > 0; length--) {
      if (log.text.endsWith(stop.slice(0, length))) return true;
    }
    return false;
  });
  return isStopBegun ? "a stop text may have begun" : undefined;
}
