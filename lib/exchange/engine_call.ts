// How is one request carried to an engine and its answer back?
import type { Buffer } from "node:buffer";
import type { Dispatcher } from "undici";
import type { ExchangeFailure, ExchangePhase } from "../base/outcome.ts";
import { messageOf } from "../base/errors.ts";
import type { Clock } from "../base/ports.ts";
import type { Bytes, Ms } from "../base/units.ts";
import type { RequestSink } from "../lane/responder_exchange.ts";
import { engineHeaders, type RawField } from "./engine_headers.ts";
import { RequestBody } from "./request_body.ts";
import type { ExchangeRequestHead, HeaderList } from "./types.ts";
import type { Upstream } from "./upstream.ts";

/** Who takes the engine's answer: a lane's exchange, or this node's own client door. */
export interface AnswerTaker {
  head(status: number, headers: HeaderList): void;
  /** @returns False to pause the engine until `RequestSink.writable`. */
  data(chunk: Uint8Array): boolean;
  end(trailers: HeaderList, load: number): void;
  fail(failure: ExchangeFailure, phase: ExchangePhase, message: string): void;
  /** The engine took bytes of the request's body. */
  consumed(bytes: Bytes, nowMs: Ms): void;
  /** The engine answered without wanting the rest of the request's body. */
  refuseBody(): void;
}

/** Errors that mean: no connection was made, so the engine saw nothing. */
const connectErrors = new Set([
  "ECONNREFUSED",
  "ENOENT",
  "ENOTFOUND",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EACCES",
  "ETIMEDOUT",
  "EAI_AGAIN",
  "UND_ERR_CONNECT_TIMEOUT",
]);

/** Whether an error of a client library means that the engine saw nothing. */
export function isNotConnected(error: unknown): boolean {
  return connectErrors.has((error as { code?: string } | undefined)?.code ?? "");
}

/**
 * One call of an engine. Speaks undici's handler interface towards the engine and `RequestSink` towards the
 * requester, without a promise on the way.
 */
export class EngineCall implements RequestSink, Dispatcher.DispatchHandler {
  private abort: ((error?: Error) => void) | undefined;
  private resume: (() => void) | undefined;
  private body: RequestBody | undefined;
  private hasHead = false;
  private hasBody = false;
  private isPaused = false;
  private isOver = false;
  /** For the limits: when the engine last did something, as far as `tick` has seen it. */
  private heardAtMs: Ms;
  /** It did something since: a token need not ask the clock. */
  private hasSpoken = false;

  constructor(
    private readonly upstream: Upstream,
    private readonly answer: AnswerTaker,
    private readonly clock: Clock,
    /** @returns Calls still open for this service. */
    private readonly onOver: () => number,
  ) {
    this.heardAtMs = clock.nowMs();
  }

  /**
   * Sends the request.
   * @param body The first bytes, or all of them when `isEnd`; copied.
   */
  start(head: ExchangeRequestHead, body: Uint8Array, isEnd: boolean): void {
    const headers = [...head.headers, ...this.upstream.headers];
    if (head.bodyBytes >= 0 && (head.bodyBytes > 0 || mayHaveBody(head.method))) {
      headers.push("content-length", String(head.bodyBytes));
    }
    try {
      this.upstream.dispatcher.dispatch({
        origin: this.upstream.origin,
        path: this.upstream.basePath + head.path,
        method: head.method as Dispatcher.HttpMethod,
        headers,
        body: this.requestBody(body, isEnd) as Dispatcher.DispatchOptions["body"],
      }, this);
    } catch (error) {
      this.failed("engine_failed", "refused", messageOf(error));
    }
  }

  // What the requester says.

  data(chunk: Uint8Array): void {
    this.body?.push(chunk);
  }

  end(): void {
    this.body?.end();
  }

  canceled(reason: string): void {
    if (this.isOver) return;
    this.over();
    const error = new Error(reason);
    this.body?.fail(error);
    this.abort?.(error);
  }

  writable(): void {
    if (!this.isPaused) return;
    this.isPaused = false;
    this.resume?.();
  }

  messagePart(): void {
    this.failed("protocol", "sent", "a message of a WebSocket came for a plain request");
  }

  socketClosed(): void {
    this.canceled("the requester closed a WebSocket that it had not opened");
  }

  /** Time passes: a second or so between calls. Ends the call when the engine is silent for too long. */
  tick(nowMs: Ms): void {
    if (this.isPaused || this.hasSpoken) this.heardAtMs = nowMs;
    this.hasSpoken = false;
    const { headTimeoutMs, firstTokenTimeoutMs, idleTimeoutMs } = this.upstream;
    const limitMs = this.hasBody
      ? idleTimeoutMs
      : this.hasHead
      ? firstTokenTimeoutMs
      : headTimeoutMs;
    if (nowMs - this.heardAtMs <= limitMs) return;
    const what = this.hasHead ? "sent nothing" : "did not begin to answer";
    this.failed("engine_timed_out", "sent", `the engine ${what} for ${limitMs} ms`);
  }

  // What the engine says: undici's handler, in the form that its core calls without wrapping.

  onConnect(abort: (error?: Error) => void): void {
    this.abort = abort;
    if (this.isOver) abort(new Error("the requester is gone"));
  }

  onHeaders(status: number, rawHeaders: Buffer[], resume: () => void): boolean {
    if (this.isOver) return true;
    // Interim answers (103) say nothing that a lane can carry.
    if (status < 200) return true;
    this.resume = resume;
    this.hasHead = true;
    this.hasSpoken = true;
    this.answer.head(status, engineHeaders(rawHeaders as unknown as RawField[], this.upstream));
    // A 304 may name the length of what it does not send; undici waits for that and fails.
    if (status === 304) this.onComplete(null);
    return true;
  }

  onData(chunk: Buffer): boolean {
    if (this.isOver) return true;
    this.hasBody = true;
    this.hasSpoken = true;
    const mayGoOn = this.answer.data(chunk);
    this.isPaused = !mayGoOn;
    return mayGoOn;
  }

  onComplete(trailers: string[] | null): void {
    if (this.isOver) return;
    const load = this.over();
    if (this.body) this.answer.refuseBody();
    this.answer.end(trailerList(trailers), load);
  }

  onError(error: Error): void {
    const isUnreachable = isNotConnected(error);
    const failure = isUnreachable ? "engine_unreachable" : "engine_failed";
    // Without a connection nothing was written: undici did not take the request, or was closed before.
    const isUnseen = isUnreachable || !this.abort;
    this.failed(failure, isUnseen ? "refused" : "sent", messageOf(error));
  }

  private requestBody(body: Uint8Array, isEnd: boolean): Uint8Array | RequestBody | null {
    if (isEnd) return body.length > 0 ? body.slice() : null;
    this.body = new RequestBody((bytes) => {
      // An engine that still takes the request is not silent.
      this.hasSpoken = true;
      this.answer.consumed(bytes, this.clock.nowMs());
    });
    this.body.push(body);
    return this.body;
  }

  private failed(failure: ExchangeFailure, phase: ExchangePhase, message: string): void {
    if (this.isOver) return;
    this.over();
    this.answer.fail(failure, phase, message);
    this.abort?.(new Error(message));
  }

  private over(): number {
    this.isOver = true;
    return this.onOver();
  }
}

/** Methods for which an engine expects to be told a length of zero. */
function mayHaveBody(method: string): boolean {
  return method === "POST" || method === "PUT" || method === "PATCH";
}

/** undici gives trailers as raw buffers or texts, names and values in turn. */
function trailerList(trailers: readonly unknown[] | null): HeaderList {
  return trailers
    ? trailers.map((text, at) => at % 2 === 0 ? String(text).toLowerCase() : String(text))
    : [];
}
