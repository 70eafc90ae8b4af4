// How is one request carried to an engine and its answer back?
import type { ExchangeFailure, ExchangePhase } from "../base/outcome.ts";
import { messageOf } from "../base/errors.ts";
import type { Clock } from "../base/ports.ts";
import type { Bytes, Ms } from "../base/units.ts";
import type { EngineRequest, FailedAt, ReplySink } from "../engine/engine_request.ts";
import type { RequestSink } from "../lane/responder_exchange.ts";
import { engineHeaders } from "./engine_headers.ts";
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

/**
 * One call of an engine. Hears the engine's answer as `ReplySink` and the requester as `RequestSink`, without a
 * promise on the way.
 */
export class EngineCall implements RequestSink, ReplySink {
  private request: EngineRequest | undefined;
  private isBodyWhole = true;
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
    const { pool, basePath, headers } = this.upstream;
    this.isBodyWhole = isEnd;
    try {
      this.request = pool.start(
        {
          method: head.method,
          path: basePath + head.path,
          headers: headers.length > 0 ? [...head.headers, ...headers] : head.headers,
          bodyBytes: head.bodyBytes,
        },
        body,
        isEnd,
        this,
      );
    } catch (error) {
      this.failed("engine_failed", "refused", messageOf(error));
    }
  }

  // What the requester says.

  data(chunk: Uint8Array): void {
    this.request?.send(chunk);
  }

  end(): void {
    this.request?.finish();
  }

  canceled(): void {
    if (this.isOver) return;
    this.over();
    this.request?.cancel();
  }

  writable(): void {
    if (!this.isPaused) return;
    this.isPaused = false;
    this.request?.resume();
  }

  messagePart(): void {
    this.failed("protocol", "sent", "a message of a WebSocket came for a plain request");
  }

  socketClosed(): void {
    this.canceled();
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

  // What the engine says.

  replyHead(status: number, headers: HeaderList): void {
    this.hasHead = true;
    this.hasSpoken = true;
    this.answer.head(status, engineHeaders(headers, this.upstream));
  }

  replyData(chunk: Uint8Array): boolean {
    this.hasBody = true;
    this.hasSpoken = true;
    const mayGoOn = this.answer.data(chunk);
    this.isPaused = !mayGoOn;
    return mayGoOn;
  }

  replyEnd(trailers: HeaderList): void {
    const load = this.over();
    if (!this.isBodyWhole) this.answer.refuseBody();
    this.answer.end(trailers, load);
  }

  replyFailed(error: Error, at: FailedAt): void {
    const failure = at === "connecting" ? "engine_unreachable" : "engine_failed";
    this.failed(failure, at === "sent" ? "sent" : "refused", messageOf(error));
  }

  bodyTaken(bytes: Bytes): void {
    // An engine that still takes the request is not silent.
    this.hasSpoken = true;
    this.answer.consumed(bytes, this.clock.nowMs());
  }

  private failed(failure: ExchangeFailure, phase: ExchangePhase, message: string): void {
    if (this.isOver) return;
    this.over();
    this.answer.fail(failure, phase, message);
    this.request?.cancel();
  }

  private over(): number {
    this.isOver = true;
    return this.onOver();
  }
}
