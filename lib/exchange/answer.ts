// How does an answer that arrives in frames become a response that can be read?
import type { ExchangeFailure, ExchangePhase } from "../base/outcome.ts";
import type { Bytes } from "../base/units.ts";
import type { AnswerSink } from "../lane/requester_exchange.ts";
import {
  type AnswerObserver,
  type BodyStream,
  ExchangeError,
  type ExchangeResponse,
  type ObserveAnswer,
} from "./types.ts";

/** What the source of an answer is told by its reader. */
export type AnswerSource = {
  /** The reader took bytes. */
  consumed(bytes: Bytes): void;
  /** Nobody reads any more. */
  cancel(): void;
};

/** Bytes the reader's stream holds before credit stops: half a starting window. */
const readAheadBytes: Bytes = 32 * 1024;

/**
 * Between the last bytes of a broken body and its stream's error: an HTTP server drops a connection with what
 * it has not written yet, and the reader should see those bytes. A guess, far above a write on loopback.
 */
const tailMs = 50;

const nothing: string[] = [];

/** Collects one answer: a promise for its head, then a stream for its body. */
export class Answer implements AnswerSink {
  readonly response: Promise<ExchangeResponse>;
  /** Set by whoever opened the exchange, before anything can arrive. */
  source!: AnswerSource;
  private readonly resolve: (response: ExchangeResponse) => void;
  private readonly reject: (error: ExchangeError) => void;
  private controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>> | undefined;
  private unreadBytes: Bytes = 0;
  private trailers: string[] = nothing;
  private observer: AnswerObserver | undefined;
  private breakError: ExchangeError | undefined;

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
    if (isEnd) {
      if (load !== undefined) this.onLoad(load);
      if (body.length > 0) this.observer?.chunk?.(body);
      this.over("whole");
      const whole = body.length > 0 ? body.slice() : null;
      return this.resolve({ status, headers, body: whole, trailers: this.getTrailers });
    }
    const stream = this.openBody();
    if (body.length > 0) this.data(body);
    this.resolve({ status, headers, body: stream, trailers: this.getTrailers });
  }

  data(chunk: Uint8Array): void {
    if (chunk.length === 0 || !this.controller || this.breakError) return;
    this.observer?.chunk?.(chunk);
    this.unreadBytes += chunk.length;
    this.controller.enqueue(chunk.slice());
  }

  end(trailers: string[], load: number | undefined): void {
    this.trailers = trailers;
    if (load !== undefined) this.onLoad(load);
    this.controller?.close();
    this.controller = undefined;
    this.over("whole");
  }

  fail(failure: ExchangeFailure, phase: ExchangePhase, message: string): void {
    if (this.breakError) return;
    // A body read on into nowhere could not be sent to another worker, and its client would go on sending.
    this.onBodyUnwanted();
    const error = new ExchangeError(failure, phase, message);
    this.reject(error);
    const { controller } = this;
    if (!controller) return this.over(error);
    const tail = this.observer?.tail?.(error);
    this.over(error);
    if (!tail) {
      this.controller = undefined;
      return controller.error(error);
    }
    controller.enqueue(tail);
    this.breakError = error;
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

  private readonly getTrailers = (): string[] => this.trailers;

  private openBody(): BodyStream {
    return new ReadableStream<Uint8Array<ArrayBuffer>>({
      start: (controller) => {
        this.controller = controller;
      },
      pull: (controller) => this.grant(controller),
      cancel: () => {
        this.controller = undefined;
        this.over("canceled");
        this.source.cancel();
      },
    }, { highWaterMark: readAheadBytes, size: byteLength });
  }

  /** What has left the stream's queue has been read. */
  private grant(controller: ReadableStreamDefaultController): void {
    if (this.breakError) return this.breakOff(controller, this.breakError);
    const queuedBytes = readAheadBytes - (controller.desiredSize ?? readAheadBytes);
    const readBytes = this.unreadBytes - queuedBytes;
    if (readBytes <= 0) return;
    this.unreadBytes = queuedBytes;
    this.source.consumed(readBytes);
  }

  /** Errors the stream once its last bytes were read and had time to leave. */
  private breakOff(controller: ReadableStreamDefaultController, error: ExchangeError): void {
    if (!this.controller || controller.desiredSize !== readAheadBytes) return;
    this.controller = undefined;
    setTimeout(() => controller.error(error), tailMs);
  }

  private over(end: "whole" | "canceled" | ExchangeError): void {
    const { observer } = this;
    this.observer = undefined;
    observer?.ended(end);
  }
}

function byteLength(chunk: Uint8Array): number {
  return chunk.byteLength;
}
