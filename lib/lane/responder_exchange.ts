// How does one exchange look from the end that answers?
import type { ByteSlab } from "../base/byte_slab.ts";
import { concatBytes } from "../base/concat_bytes.ts";
import { messageOf } from "../base/errors.ts";
import type { ExchangeFailure, ExchangePhase } from "../base/outcome.ts";
import type { Bytes, Ms } from "../base/units.ts";
import { BodySender, type Outbox } from "./body_sender.ts";
import { FrameType } from "./frame.ts";
import type { FrameWriter } from "./frame_writer.ts";
import { writeHead } from "./head_frames.ts";
import { encodeEnd, encodeHead } from "./head.ts";
import { writeCredit } from "./requester_exchange.ts";
import { closePayload, readClose } from "./socket_frames.ts";
import { ReceiveWindow, type WindowBudget } from "./window.ts";

/** Who serves one request: hears its body and its end. Nothing comes after `canceled`. */
export interface RequestSink {
  /** @param chunk Valid until the call returns. */
  data(chunk: Uint8Array): void;
  end(): void;
  /** Nobody waits for the answer any more: stop the engine. */
  canceled(reason: string): void;
  /** More of the answer may be given. */
  writable(): void;
  messagePart(isText: boolean, part: Uint8Array, isLast: boolean): void;
  socketClosed(code: number, reason: string): void;
}

/** What the lane lends to its exchange. */
type Loan = {
  readonly lane: { readonly roundTripMs: Ms };
  readonly writer: FrameWriter;
  readonly outbox: Outbox;
  /** For what leaves at the end of the turn. */
  readonly slab: ByteSlab;
  readonly budget: WindowBudget;
  readonly windowBytes: Bytes;
  readonly answerWindowBytes: Bytes;
  readonly nowMs: Ms;
  readonly hold: (exchange: ResponderExchange) => void;
  readonly forget: () => void;
};

/** A head that waits for the end of the turn, with the bytes that came meanwhile. */
type HeldHead = { status: number; headers: string[]; body: Uint8Array; isEnded: boolean };

const nothing = new Uint8Array(0);

/** One running exchange at the responder. */
export class ResponderExchange {
  private readonly body: BodySender;
  private readonly window: ReceiveWindow;
  private sink: RequestSink | undefined;
  private held: HeldHead | undefined;
  private trailers: string[] = [];
  private load: number | undefined;
  private isOver = false;
  private isRequestEnded: boolean;

  constructor(readonly id: number, private readonly loan: Loan) {
    this.body = new BodySender(
      id,
      loan.outbox,
      loan.answerWindowBytes,
      () => this.sink?.writable(),
    );
    this.window = new ReceiveWindow(loan.windowBytes, loan.budget, loan.nowMs);
    this.isRequestEnded = loan.windowBytes === 0;
  }

  /** Bytes of the body that came beside the head count like the rest. Called by the lane. */
  receivedWithHead(bytes: Bytes): void {
    if (!this.isRequestEnded) this.window.received(bytes);
  }

  /** Must be called at once, in `OnExchange`. */
  bind(sink: RequestSink): void {
    this.sink = sink;
  }

  /** Whether the exchange has ended, so that work for it can stop. */
  get isEnded(): boolean {
    return this.isOver;
  }

  /** Gives the answer's head. It leaves at the end of the turn, with what `data` brings until then. */
  head(status: number, headers: string[]): void {
    if (this.isOver) return;
    this.held = { status, headers, body: nothing, isEnded: false };
    this.loan.hold(this);
  }

  /**
   * Gives a piece of the answer's body.
   * @param chunk Copied; valid until the call returns.
   * @returns Whether more may come now; after false wait for the sink's `writable`.
   */
  data(chunk: Uint8Array): boolean {
    if (this.isOver) return true;
    if (!this.held) return this.body.send(chunk);
    const { body } = this.held;
    this.held.body = body.length > 0 ? concatBytes([body, chunk]) : this.loan.slab.copy(chunk);
    return this.held.body.length <= this.body.credit;
  }

  /** @param load Exchanges open for this service, this one not counted. */
  end(trailers: string[], load: number): void {
    if (this.isOver) return;
    this.trailers = trailers;
    this.load = load;
    if (this.held) this.held.isEnded = true;
    else this.body.finish(() => this.writeEnd());
  }

  fail(failure: ExchangeFailure, phase: ExchangePhase, message: string): void {
    if (this.isOver) return;
    if (this.held) this.writeHeldHead();
    const error = encodeHead({ f: failure, p: phase, m: message.slice(0, 300) });
    this.loan.writer.frame(FrameType.error, this.id, error);
    this.finish();
  }

  /** The engine took bytes of the request's body: the requester may send as many again. */
  consumed(bytes: Bytes, nowMs: Ms): void {
    if (this.isOver || this.isRequestEnded) return;
    const grant = this.window.consumed(bytes, nowMs, this.loan.lane.roundTripMs);
    if (grant > 0) writeCredit(this.loan.writer, this.id, grant);
  }

  /** The engine answered without wanting the rest of the request's body. */
  refuseBody(): void {
    if (!this.isOver && !this.isRequestEnded) this.loan.writer.frame(FrameType.cancel, this.id);
  }

  /** @returns Bytes that wait. */
  sendMessage(isText: boolean, message: Uint8Array): Bytes {
    if (this.held) this.writeHeldHead();
    return this.body.sendMessage(isText ? FrameType.text : FrameType.binary, message);
  }

  closeSocket(code: number, reason: string): void {
    if (this.isOver) return;
    if (this.held) this.writeHeldHead();
    this.body.finish(() => {
      this.loan.writer.frame(FrameType.socketClose, this.id, closePayload(code, reason));
      this.finish();
    });
  }

  /** The turn ends: the head leaves with the bytes it has. Called by the lane. */
  writeHeldHead(): void {
    const held = this.held;
    if (!held || this.isOver) return;
    this.held = undefined;
    const room = this.body.roomBeside;
    const isWhole = held.isEnded && this.trailers.length === 0 && held.body.length <= room;
    let head: Uint8Array;
    try {
      head = encodeHead({ s: held.status, h: held.headers, ...(isWhole ? { l: this.load } : {}) });
    } catch (error) {
      // One engine's monstrous head must not cost the other exchanges their lane.
      return this.giveUp("engine_failed", messageOf(error));
    }
    const sendable = held.body.subarray(0, room);
    const { writer } = this.loan;
    const wrote = writeHead(writer, FrameType.response, this.id, head, sendable, isWhole);
    this.body.spend(wrote.bodyBytes);
    if (wrote.isEnded) return this.finish();
    if (wrote.bodyBytes < held.body.length) this.body.send(held.body.subarray(wrote.bodyBytes));
    if (held.isEnded) this.body.finish(() => this.writeEnd());
  }

  onData(payload: Uint8Array): void {
    if (this.isRequestEnded) return;
    if (this.window.received(payload.length)) this.sink?.data(payload);
    else this.overrun();
  }

  onEnd(): void {
    if (this.isRequestEnded) return;
    this.isRequestEnded = true;
    this.sink?.end();
  }

  onCancel(reason: string): void {
    if (this.isOver) return;
    this.finish();
    this.sink?.canceled(reason);
  }

  onCredit(bytes: Bytes): void {
    this.body.grant(bytes);
  }

  onMessage(isText: boolean, payload: Uint8Array): void {
    if (payload.length === 0) return this.broken("a part of a message without its flag");
    if (this.window.received(payload.length - 1)) {
      this.sink?.messagePart(isText, payload.subarray(1), payload[0] === 1);
    } else this.overrun();
  }

  onSocketClose(payload: Uint8Array): void {
    const { code, reason } = readClose(payload);
    this.finish();
    this.sink?.socketClosed(code, reason);
  }

  private overrun(): void {
    this.broken("more than its credit");
  }

  private broken(what: string): void {
    this.giveUp("protocol", `the requester sent ${what}`);
  }

  /** Tells both sides that it ends here. */
  private giveUp(failure: ExchangeFailure, message: string): void {
    this.fail(failure, "sent", message);
    this.sink?.canceled(message);
  }

  private writeEnd(): void {
    this.loan.writer.frame(FrameType.end, this.id, encodeEnd(this.trailers, this.load), true);
    this.finish();
  }

  private finish(): void {
    this.isOver = true;
    this.body.drop();
    this.window.close();
    this.loan.forget();
  }
}
