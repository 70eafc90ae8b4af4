// How does a stream outlive the worker that began it?
import { type BodyStream, ExchangeError } from "../exchange/types.ts";
import { CompletionLog, whyNotContinued } from "../usage/completion_log.ts";
import { type CompletionKind, readCompletionRequest } from "../usage/completion_request.ts";
import { decideContinuation } from "../usage/continuation.ts";
import { EventCutter } from "../usage/event_cutter.ts";
import type { Splice } from "../usage/splice.ts";
import type { ForwardAttempt } from "./forward_attempt.ts";
import type { BrokenStream, Successor } from "./forward_successor.ts";

type Chunk = Uint8Array<ArrayBuffer>;

/** What a relay asks of its request. */
export type RelayOwner = {
  readonly continuationsMax: number;
  readonly isClientGone: boolean;
  /** The body as the client sent it; `undefined` when it is not all here any more. */
  readonly requestBody: Uint8Array | undefined;
  /** An error as the client should hear of it. */
  reasonOf(error: ExchangeError): ExchangeError;
  waits(isFirst: boolean): void;
  came(): void;
  /** Finds somebody who goes on, or the events that end the stream. */
  successor(broken: BrokenStream): Promise<Successor>;
  /** The last bytes for the client when nobody goes on. */
  broken(error: ExchangeError, why: string): Chunk;
  ended(end: "whole" | "canceled" | ExchangeError): void;
};

/** Between the last bytes and the error: see `tailMs` of an exchange's answer. */
const tailMs = 50;

/**
 * Passes a completion's events on, whole ones only and unchanged, and remembers what they said. When the worker is
 * lost another one goes on, and the client sees one stream.
 */
export class ForwardRelay {
  private readonly log: CompletionLog;
  private cutter = new EventCutter();
  private splice: Splice | undefined;
  private reader: ReadableStreamDefaultReader<Chunk>;
  /** What was read before anything was said. */
  private opening: Chunk[] = [];
  private continuationCount = 0;
  private lastBytes: Uint8Array = new Uint8Array(0);
  private isOver = false;
  private hasBegun = false;

  constructor(
    private readonly owner: RelayOwner,
    private readonly kind: CompletionKind,
    private attempt: ForwardAttempt,
    body: BodyStream,
  ) {
    this.log = new CompletionLog(kind);
    this.reader = body.getReader();
  }

  /**
   * Reads until the answer says something: what only opens it is held back, so that a worker that dies before has
   * never been heard of.
   * @throws {ExchangeError} When the stream ends or breaks before.
   */
  async open(): Promise<void> {
    while (!this.log.hasSpoken && !this.cutter.isGivenUp) {
      const bytes = await this.read();
      if (bytes === undefined) {
        this.opening.push(this.cutter.take());
        if (this.log.isOpened) return;
        throw new ExchangeError(
          "engine_failed",
          "head",
          "the engine ended its stream without an event",
        );
      }
      if (bytes.length > 0) this.opening.push(bytes);
    }
  }

  /** The answer's body for the client. */
  stream(): BodyStream {
    this.hasBegun = true;
    return new ReadableStream<Chunk>({
      pull: (controller) => this.pull(controller),
      cancel: () => {
        this.finish("canceled");
        this.reader.cancel("the client went away").catch(() => {});
      },
    }, { highWaterMark: 0 });
  }

  private async pull(controller: ReadableStreamDefaultController<Chunk>): Promise<void> {
    const opened = this.opening.shift();
    if (opened) return controller.enqueue(opened);
    for (;;) {
      let error: ExchangeError;
      try {
        const bytes = await this.read();
        if (this.isOver) return;
        if (bytes !== undefined) {
          if (bytes.length === 0) continue;
          return controller.enqueue(bytes);
        }
        if (this.hasEnded()) return this.close(controller);
        error = new ExchangeError(
          "engine_failed",
          "body",
          "the engine ended its stream in the middle",
        );
      } catch (thrown) {
        if (this.isOver) return;
        if (!(thrown instanceof ExchangeError)) return controller.error(thrown);
        error = this.owner.reasonOf(thrown);
      }
      if (await this.goesOn(error, controller)) continue;
      return;
    }
  }

  /** @returns Bytes for the client, maybe none; `undefined` at the end of the worker's stream. */
  private async read(): Promise<Chunk | undefined> {
    this.owner.waits(!this.log.isOpened);
    const { done, value } = await this.reader.read();
    this.owner.came();
    if (done) return undefined;
    const whole = this.cutter.push(value);
    if (this.cutter.isGivenUp) this.log.lose("an event is too long");
    if (whole.length === 0) return whole;
    const bytes = this.splice ? new TextEncoder().encode(this.splice.rewrite(whole)) : whole;
    if (bytes.length > 0) {
      if (!this.cutter.isGivenUp) this.log.push(bytes);
      this.lastBytes = bytes;
    }
    return bytes;
  }

  /** Whether the engine ended the stream as one that is complete; unknown shapes are taken at their word. */
  private hasEnded(): boolean {
    if (endsWithDone(this.lastBytes)) return true;
    this.log.read();
    const { isDone, finishReason, stranger, text } = this.log;
    return isDone || finishReason !== null || stranger !== undefined || text === "";
  }

  private close(controller: ReadableStreamDefaultController<Chunk>): void {
    const rest = this.cutter.take();
    if (rest.length > 0) controller.enqueue(rest);
    controller.close();
    this.finish("whole");
  }

  /** @returns Whether reading goes on. */
  private async goesOn(
    error: ExchangeError,
    controller: ReadableStreamDefaultController<Chunk>,
  ): Promise<boolean> {
    this.attempt.broke(error);
    this.log.read();
    if (this.log.isDone) {
      // Lost after its last event: nothing is missing.
      this.close(controller);
      return false;
    }
    const { requestBody } = this.owner;
    const verdict = requestBody === undefined
      ? { isContinuable: false as const, why: "its request is not kept any more" }
      : readCompletionRequest(this.kind, requestBody);
    const decision = decideContinuation({
      failure: error.failure,
      isClientGone: this.owner.isClientGone,
      policy: this.attempt.candidate.retry,
      count: this.continuationCount,
      countMax: this.owner.continuationsMax,
      why: verdict.isContinuable ? whyNotContinued(verdict.request, this.log) : verdict.why,
    });
    if (decision.type === "stop" || !verdict.isContinuable || decision.type === "fail") {
      this.breakOff(error, decision.type === "fail" ? decision.why : "", controller);
      return false;
    }
    const { attempt, log } = this;
    const successor = await this.owner.successor({ attempt, log, request: verdict.request });
    if (this.isOver) {
      if (successor.type === "worker") successor.attempt.cancel("the client went away");
      return false;
    }
    if (successor.type === "none") {
      this.breakOff(error, successor.why, controller);
      return false;
    }
    this.continuationCount++;
    if (successor.type === "end") {
      controller.enqueue(successor.events);
      controller.close();
      this.finish("whole");
      return false;
    }
    this.attempt = successor.attempt;
    this.splice = successor.splice;
    this.cutter = new EventCutter();
    this.reader = (successor.answer.body as BodyStream).getReader();
    return true;
  }

  private breakOff(
    error: ExchangeError,
    why: string,
    controller: ReadableStreamDefaultController<Chunk>,
  ): void {
    controller.enqueue(this.owner.broken(error, why));
    this.finish(error);
    // An HTTP server drops a connection with what it has not written yet.
    setTimeout(() => controller.error(error), tailMs);
  }

  private finish(end: "whole" | "canceled" | ExchangeError): void {
    if (this.isOver) return;
    this.isOver = true;
    if (this.hasBegun) this.owner.ended(end);
  }
}

const done = new TextEncoder().encode("[DONE]");

/** Whether the last event is the end of a stream: cheaper than to read all of them. */
function endsWithDone(bytes: Uint8Array): boolean {
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] <= 0x20) end--;
  if (end < done.length) return false;
  for (let at = 0; at < done.length; at++) {
    if (bytes[end - done.length + at] !== done[at]) return false;
  }
  return true;
}
