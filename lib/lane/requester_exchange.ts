// How does one exchange look from the end that asked?
import type { ExchangeFailure, ExchangePhase } from "../base/outcome.ts";
import type { Bytes, Ms } from "../base/units.ts";
import { BodySender, type Outbox } from "./body_sender.ts";
import { readU32 } from "../base/u32.ts";
import { FrameType } from "./frame.ts";
import type { FrameWriter } from "./frame_writer.ts";
import { HeadAssembler, writeHead } from "./head_frames.ts";
import { decodeResponse, type WireEnd } from "./head.ts";
import { ReceiveWindow, type WindowBudget } from "./window.ts";
import { closePayload, readClose } from "./socket_frames.ts";

/** Who hears the answer. Everything is called in order; nothing after `end`, `fail` or `socketClosed`. */
export interface AnswerSink {
  /**
   * @param body The first bytes, or all of them when `isEnd`; valid until the call returns.
   * @param load As in `end`, when this is the whole answer.
   */
  head(
    status: number,
    headers: string[],
    body: Uint8Array,
    isEnd: boolean,
    load: number | undefined,
  ): void;
  /** @param chunk Valid until the call returns. */
  data(chunk: Uint8Array): void;
  /** @param load Exchanges that the worker has open for this service. */
  end(trailers: string[], load: number | undefined): void;
  fail(failure: ExchangeFailure, phase: ExchangePhase, message: string): void;
  /** More of the request's body may be sent. */
  writable(): void;
  /** The worker has answered without wanting the rest of the request's body. */
  bodyUnwanted(): void;
  /** A piece of a WebSocket message; valid until the call returns. */
  messagePart(isText: boolean, part: Uint8Array, isLast: boolean): void;
  socketClosed(code: number, reason: string): void;
}

/** What the lane lends to its exchange. */
type Loan = {
  readonly lane: { readonly roundTripMs: Ms };
  readonly writer: FrameWriter;
  readonly outbox: Outbox;
  readonly budget: WindowBudget;
  readonly windowBytes: Bytes;
  readonly bodyWindowBytes: Bytes;
  readonly nowMs: Ms;
  readonly forget: () => void;
};

/** One running exchange at the requester. */
export class RequesterExchange {
  private readonly body: BodySender;
  private readonly window: ReceiveWindow;
  private assembler: HeadAssembler | undefined;
  private batchAtWrite = 0;
  private phaseHeard: "head" | "body" | undefined;
  private isOver = false;

  constructor(
    readonly id: number,
    private readonly sink: AnswerSink,
    private readonly loan: Loan,
  ) {
    this.body = new BodySender(id, loan.outbox, loan.bodyWindowBytes, () => sink.writable());
    this.window = new ReceiveWindow(loan.windowBytes, loan.budget, loan.nowMs);
  }

  /** How far it has come, from this end's own knowledge. */
  get phase(): ExchangePhase {
    if (this.phaseHeard) return this.phaseHeard;
    return this.loan.writer.batchCount > this.batchAtWrite ? "sent" : "not_sent";
  }

  /** Writes the head and what there is of the body. Called once, by the lane. */
  start(head: Uint8Array, body: Uint8Array, isEnd: boolean): void {
    this.batchAtWrite = this.loan.writer.batchCount;
    const room = this.body.roomBeside;
    const sendable = body.length <= room ? body : body.subarray(0, room);
    const isWhole = isEnd && sendable.length === body.length;
    const { writer } = this.loan;
    const wrote = writeHead(writer, FrameType.request, this.id, head, sendable, isWhole);
    this.body.spend(wrote.bodyBytes);
    if (wrote.isEnded) return;
    if (wrote.bodyBytes < body.length) this.body.send(body.subarray(wrote.bodyBytes));
    if (isEnd) this.endBody();
  }

  /** @returns Whether more may come now; after false wait for the sink's `writable`. */
  sendBody(chunk: Uint8Array): boolean {
    return this.body.send(chunk);
  }

  endBody(): void {
    this.body.finish(() => this.loan.writer.frame(FrameType.end, this.id));
  }

  sendMessage(isText: boolean, message: Uint8Array): Bytes {
    return this.body.sendMessage(isText ? FrameType.text : FrameType.binary, message);
  }

  closeSocket(code: number, reason: string): void {
    if (this.isOver) return;
    this.body.finish(() => {
      this.loan.writer.frame(FrameType.socketClose, this.id, closePayload(code, reason));
      this.finish();
    });
  }

  /** The reader took bytes of the answer: the worker may send as many again. */
  consumed(bytes: Bytes, nowMs: Ms): void {
    if (this.isOver) return;
    const grant = this.window.consumed(bytes, nowMs, this.loan.lane.roundTripMs);
    if (grant > 0) writeCredit(this.loan.writer, this.id, grant);
  }

  /** Nobody wants the answer any more. Idempotent. */
  cancel(): void {
    if (this.isOver) return;
    this.loan.writer.frame(FrameType.cancel, this.id);
    this.finish();
  }

  /** @param phase When the worker knows better than this end. */
  failed(failure: ExchangeFailure, phase: ExchangePhase | undefined, message: string): void {
    if (this.isOver) return;
    const reached = phase && this.phaseHeard === undefined ? phase : this.phase;
    this.finish();
    this.sink.fail(failure, reached, message);
  }

  onResponse(payload: Uint8Array): void {
    if (this.phaseHeard) return this.failed("protocol", undefined, "the worker sent a second head");
    this.assembler ??= new HeadAssembler();
    const received = this.assembler.push(payload);
    if (!received) return;
    this.assembler = undefined;
    const head = decodeResponse(received.head);
    this.phaseHeard = received.body.length > 0 ? "body" : "head";
    if (!this.window.received(received.body.length)) return this.overrun();
    if (received.isEnd) this.finish();
    this.sink.head(head.s, head.h, received.body, received.isEnd, head.l);
  }

  onData(payload: Uint8Array): void {
    if (!this.phaseHeard) {
      return this.failed("protocol", undefined, "the worker sent a body before its head");
    }
    if (!this.window.received(payload.length)) return this.overrun();
    this.phaseHeard = "body";
    this.sink.data(payload);
  }

  onEnd(end: WireEnd): void {
    if (!this.phaseHeard) {
      return this.failed("protocol", undefined, "the worker ended an answer without a head");
    }
    this.finish();
    this.sink.end(end.t ?? [], end.l);
  }

  onCredit(payload: Uint8Array): void {
    this.body.grant(readU32(payload, 0));
  }

  onBodyUnwanted(): void {
    this.body.drop();
    this.sink.bodyUnwanted();
  }

  onMessage(isText: boolean, payload: Uint8Array): void {
    if (payload.length === 0) return this.broken("a part of a message without its flag");
    if (!this.window.received(payload.length - 1)) return this.overrun();
    this.sink.messagePart(isText, payload.subarray(1), payload[0] === 1);
  }

  onSocketClose(payload: Uint8Array): void {
    const { code, reason } = readClose(payload);
    this.finish();
    this.sink.socketClosed(code, reason);
  }

  private overrun(): void {
    this.broken("more than its credit");
  }

  private broken(what: string): void {
    this.loan.writer.frame(FrameType.cancel, this.id);
    this.failed("protocol", undefined, `the worker sent ${what}`);
  }

  private finish(): void {
    this.isOver = true;
    this.body.drop();
    this.window.close();
    this.loan.forget();
  }
}

/** @param bytes At most 2³² − 1, which no window reaches. */
export function writeCredit(writer: FrameWriter, id: number, bytes: Bytes): void {
  const at = writer.begin(FrameType.credit, id, 4);
  const buffer = writer.buffer;
  buffer[at] = bytes >>> 24;
  buffer[at + 1] = bytes >>> 16;
  buffer[at + 2] = bytes >>> 8;
  buffer[at + 3] = bytes;
}
