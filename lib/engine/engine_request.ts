// What is known of one request to an engine, from its start to its end?
import type { Bytes } from "../base/units.ts";
import { encodeChunk, joinHead, lastChunk } from "../http/wire_bytes.ts";
import { type EngineRequestHead, framingOf, type RequestFraming } from "./http_request.ts";

/** How far a request that failed had come: until "sent" the engine saw nothing of it. */
export type FailedAt = "waiting" | "connecting" | "sent";

/** Who hears the engine's answer. Nothing comes after `replyEnd` or `replyFailed`. */
export type ReplySink = {
  /** @param headers Names in lower case and values in turn, in wire order, hop-by-hop ones too; bytes as Latin-1. */
  replyHead(status: number, headers: string[]): void;
  /**
   * @param chunk Valid until the call returns.
   * @returns False to pause the engine until `EngineRequest.resume`; what was read with it still comes.
   */
  replyData(chunk: Uint8Array): boolean;
  replyEnd(trailers: string[]): void;
  replyFailed(error: Error, at: FailedAt): void;
  /** The engine's connection took bytes of a body that was not whole from the start. */
  bodyTaken(bytes: Bytes): void;
};

/** What a request asks of the connection that carries it. */
export type Carrier = {
  /** There is more to write. */
  write(): void;
  resume(): void;
  /** It is over before its answer is whole, so the connection cannot be used further. */
  close(): void;
};

/** Bytes for the connection. */
export type Piece = {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Of the request's body, to be reported as taken. */
  readonly bodyBytes: Bytes;
};

/** One request and how far it has come; owns what waits to be written. Made by `EnginePool.start`. */
export class EngineRequest {
  private readonly waiting: Piece[];
  private readonly framing: RequestFraming;
  private carrier: Carrier | undefined;
  private sentBytes: Bytes = 0;
  private hasAllBody = false;
  private hasEnded = false;

  /**
   * @param text The head as it stands on the connection, Latin-1.
   * @param first The first bytes of the body, or all of them when `isWhole`; copied.
   * @param onDropped It ended before a connection was found for it.
   */
  constructor(
    private readonly head: EngineRequestHead,
    text: string,
    first: Uint8Array,
    isWhole: boolean,
    private readonly reply: ReplySink,
    private readonly onDropped: (request: EngineRequest) => void,
  ) {
    this.framing = framingOf(head);
    this.hasAllBody = isWhole;
    this.sentBytes = first.length;
    const isPiece = this.framing === "chunked" && first.length > 0;
    const bytes = joinHead(text, isPiece ? encodeChunk(first) : first);
    this.waiting = [{ bytes, bodyBytes: isWhole ? 0 : first.length }];
  }

  get method(): string {
    return this.head.method;
  }

  /** Whether the answer is whole, or never will be. */
  get isOver(): boolean {
    return this.hasEnded;
  }

  /** Whether nothing is left to be written. */
  get isSent(): boolean {
    return this.hasAllBody && this.waiting.length === 0;
  }

  // What its owner says.

  /** More of the body. @param chunk Copied. */
  send(chunk: Uint8Array): void {
    if (this.hasEnded || this.hasAllBody || chunk.length === 0) return;
    this.sentBytes += chunk.length;
    if (this.framing !== "chunked" && this.sentBytes > this.head.bodyBytes) {
      return this.abort(new Error("the request's body is longer than it was said to be"));
    }
    const bytes = this.framing === "chunked" ? encodeChunk(chunk) : chunk.slice();
    this.waiting.push({ bytes, bodyBytes: chunk.length });
    this.carrier?.write();
  }

  /** The body is whole. */
  finish(): void {
    if (this.hasEnded || this.hasAllBody) return;
    if (this.framing !== "chunked" && this.sentBytes < this.head.bodyBytes) {
      return this.abort(new Error("the request's body is shorter than it was said to be"));
    }
    this.hasAllBody = true;
    if (this.framing === "chunked") this.waiting.push({ bytes: lastChunk(), bodyBytes: 0 });
    this.carrier?.write();
  }

  resume(): void {
    this.carrier?.resume();
  }

  /** Ends it: the engine's connection breaks, so that half a body cannot be taken for a whole. Tells nobody. */
  cancel(): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    this.waiting.length = 0;
    if (this.carrier) this.carrier.close();
    else this.onDropped(this);
  }

  // What its connection says.

  /** It has a connection. */
  carriedBy(carrier: Carrier): void {
    this.carrier = carrier;
  }

  /** What is to be written next. */
  next(): Piece | undefined {
    return this.waiting.shift();
  }

  taken(bytes: Bytes): void {
    if (!this.hasEnded && bytes > 0) this.reply.bodyTaken(bytes);
  }

  answerHead(status: number, headers: string[]): void {
    if (!this.hasEnded) this.reply.replyHead(status, headers);
  }

  /** @returns Whether more may come. */
  answerData(chunk: Uint8Array): boolean {
    return this.hasEnded || this.reply.replyData(chunk);
  }

  answerEnd(trailers: string[]): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    this.reply.replyEnd(trailers);
  }

  failed(error: Error, at: FailedAt): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    this.waiting.length = 0;
    this.reply.replyFailed(error, at);
  }

  private abort(error: Error): void {
    const { carrier } = this;
    this.failed(error, carrier ? "sent" : "waiting");
    if (carrier) carrier.close();
    else this.onDropped(this);
  }
}
