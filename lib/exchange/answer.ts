// How does an answer that arrives in frames become a response that can be read?
import { ByteSlab } from "../base/byte_slab.ts";
import type { ExchangeFailure, ExchangePhase } from "../base/outcome.ts";
import type { AnswerSink } from "../lane/requester_exchange.ts";
import { AnswerBody, type BodySource } from "./answer_body.ts";
import {
  type AnswerObserver,
  ExchangeError,
  type ExchangeResponse,
  type ObserveAnswer,
} from "./types.ts";

const nothing: string[] = [];
/** For bodies that came whole: they go to their client in the same turn. */
const slab = new ByteSlab();

/** Collects one answer: a promise for its head, then its body as it comes. */
export class Answer implements AnswerSink {
  readonly response: Promise<ExchangeResponse>;
  /** Set by whoever opened the exchange, before anything can arrive. */
  source!: BodySource;
  private readonly resolve: (response: ExchangeResponse) => void;
  private readonly reject: (error: ExchangeError) => void;
  /** There while it arrives. */
  private body: AnswerBody | undefined;
  private trailers: string[] = nothing;
  private observer: AnswerObserver | undefined;
  private isFailed = false;

  /**
   * @param onLoad Hears the load that the worker reports.
   * @param onWritable More of the request's body may be sent.
   */
  constructor(
    private readonly onLoad: (load: number) => void,
    private readonly onWritable: () => void,
    private readonly onBodyUnwanted: () => void,
    private readonly observe?: ObserveAnswer,
  ) {
    const { promise, resolve, reject } = Promise.withResolvers<ExchangeResponse>();
    this.response = promise;
    this.resolve = resolve;
    this.reject = reject;
    // A canceled exchange may have nobody left who waits for its head.
    promise.catch(() => {});
  }

  head(
    status: number,
    headers: string[],
    body: Uint8Array,
    isEnd: boolean,
    load: number | undefined,
  ): void {
    this.observer = this.observe?.(status, headers);
    const trailers = () => this.trailers;
    if (isEnd) {
      if (load !== undefined) this.onLoad(load);
      if (body.length > 0) this.observer?.chunk?.(body);
      this.over("whole");
      const whole = body.length > 0 ? slab.copy(body) : null;
      return this.resolve({ status, headers, body: whole, trailers });
    }
    const answerBody = this.openBody();
    if (body.length > 0) this.data(body);
    this.resolve({ status, headers, body: answerBody, trailers });
  }

  data(chunk: Uint8Array): void {
    if (chunk.length === 0 || !this.body) return;
    this.observer?.chunk?.(chunk);
    this.body.push(chunk);
  }

  end(trailers: string[], load: number | undefined): void {
    this.trailers = trailers;
    if (load !== undefined) this.onLoad(load);
    const { body } = this;
    this.body = undefined;
    // Its books are closed before its reader learns of the end.
    this.over("whole");
    body?.close();
  }

  fail(failure: ExchangeFailure, phase: ExchangePhase, message: string): void {
    if (this.isFailed) return;
    this.isFailed = true;
    // A body read on into nowhere could not be sent to another worker, and its client would go on sending.
    this.onBodyUnwanted();
    const error = new ExchangeError(failure, phase, message);
    this.reject(error);
    const { body } = this;
    this.body = undefined;
    const tail = body && this.observer?.tail?.(error);
    this.over(error);
    body?.fail(error, tail);
  }

  writable(): void {
    this.onWritable();
  }

  bodyUnwanted(): void {
    this.onBodyUnwanted();
  }

  messagePart(): void {
    this.fail(
      "protocol",
      "body",
      "the worker sent a message of a WebSocket that was not asked for",
    );
    this.source.cancel();
  }

  socketClosed(): void {
    this.fail("protocol", "head", "the worker closed a WebSocket that was not asked for");
  }

  private openBody(): AnswerBody {
    this.body = new AnswerBody({
      consumed: (bytes) => this.source.consumed(bytes),
      cancel: () => {
        this.body = undefined;
        this.over("canceled");
        this.source.cancel();
      },
    });
    return this.body;
  }

  private over(end: "whole" | "canceled" | ExchangeError): void {
    const { observer } = this;
    this.observer = undefined;
    observer?.ended(end);
  }
}
