// How does the end that opens exchanges run a lane?
import { OtelaError } from "../base/errors.ts";
import { NumberTable } from "../base/number_table.ts";
import type { ExchangeFailure, ExchangePhase } from "../base/outcome.ts";
import { exchangeFailures } from "../base/outcome.ts";
import type { Ms } from "../base/units.ts";
import { FrameType } from "./frame.ts";
import { decodeEnd, decodeError, encodeHead, type WireRequest } from "./head.ts";
import { Lane } from "./lane.ts";
import { type AnswerSink, RequesterExchange } from "./requester_exchange.ts";
import type { StallVerdict } from "./stall.ts";

/** Ids are never reused; after this one the lane takes no new exchanges. Source: protocol, "Lanes". */
const idMax = 2 ** 31;

/** The requester's end: opens exchanges and hears their answers. */
export class RequesterLane extends Lane {
  private readonly exchanges = new NumberTable<RequesterExchange>();
  private nextId = 1;
  private isRetired = false;

  get openCount(): number {
    return this.exchanges.size;
  }

  /** Whether a new exchange may be opened here. */
  get mayOpen(): boolean {
    return !this.isClosed && !this.isRetired && !this.watch.isAvoided && this.nextId < idMax &&
      this.exchanges.size < this.peerHello.exchangesMax;
  }

  /** Whether silence makes us send new exchanges elsewhere. */
  get isStalled(): boolean {
    return this.watch.isAvoided;
  }

  /** Takes no new exchanges; close it when the last has ended. */
  retire(): void {
    this.isRetired = true;
  }

  /**
   * Opens an exchange.
   * @param body The first bytes of the body, or all of it. Copied.
   * @param isEnd Whether `body` is the whole body.
   * @throws {OtelaError} `lane_failed` when the lane is over; `overloaded` when there is no memory for another window; `bad_request` when the head is too large.
   */
  open(
    head: Omit<WireRequest, "w">,
    body: Uint8Array,
    isEnd: boolean,
    sink: AnswerSink,
    nowMs: Ms,
  ): RequesterExchange {
    this.nowMs = nowMs;
    // Its frames would wait for ever: nobody flushes a closed lane, and nobody ends its exchanges again.
    if (this.isClosed) {
      throw new OtelaError("lane_failed", "Cannot open an exchange as its lane is over");
    }
    const windowBytes = this.budget.reserve();
    if (windowBytes === 0) {
      throw new OtelaError("overloaded", "Cannot open an exchange as all window memory is in use");
    }
    let bytes: Uint8Array;
    try {
      bytes = encodeHead({ ...head, w: windowBytes });
    } catch (error) {
      this.budget.release(windowBytes);
      throw error;
    }
    if (this.exchanges.size === 0) this.watch.heard(nowMs);
    const id = this.nextId++;
    const exchange = new RequesterExchange(id, sink, {
      lane: this,
      writer: this.writer,
      outbox: this.outbox,
      budget: this.budget,
      windowBytes,
      bodyWindowBytes: this.peerHello.window,
      nowMs,
      forget: () => this.exchanges.delete(id),
    });
    this.exchanges.set(id, exchange);
    exchange.start(bytes, body, isEnd);
    return exchange;
  }

  /** Time passes: a few times a second. @returns What silence says; on "fail" close the lane. */
  tick(nowMs: Ms): StallVerdict {
    this.nowMs = nowMs;
    const verdict = this.watch.tick(nowMs, this.exchanges.size);
    if (verdict !== "fine") this.ping();
    return verdict;
  }

  /** The lane is over: every exchange on it fails with its phase, in this turn. */
  closed(failure: ExchangeFailure, message: string): void {
    if (this.isClosed) return;
    this.isClosed = true;
    const open = this.exchanges.values();
    this.exchanges.clear();
    for (const exchange of open) exchange.failed(failure, undefined, message);
  }

  protected override beforeFlush(): void {}

  protected override onFrame(type: number, id: number, payload: Uint8Array): void {
    const exchange = this.exchanges.get(id);
    // An end and a cancel may cross: what comes for a closed exchange is dropped in silence.
    switch (type) {
      case FrameType.response:
        return exchange?.onResponse(payload);
      case FrameType.data:
        return exchange?.onData(payload);
      case FrameType.end:
        return exchange?.onEnd(decodeEnd(payload));
      case FrameType.error:
        return exchange && failByPeer(exchange, payload);
      case FrameType.credit:
        return exchange?.onCredit(payload);
      case FrameType.cancel:
        return exchange?.onBodyUnwanted();
      case FrameType.text:
      case FrameType.binary:
        return exchange?.onMessage(type === FrameType.text, payload);
      case FrameType.socketClose:
        return exchange?.onSocketClose(payload);
      default:
        return this.refuseType(type);
    }
  }
}

function failByPeer(exchange: RequesterExchange, payload: Uint8Array): void {
  const error = decodeError(payload);
  const failure = exchangeFailures.find((known) => known === error.f) ?? "engine_failed";
  // The worker's word counts only for "the engine never saw it"; how far we came we know ourselves.
  const phase: ExchangePhase | undefined = error.p === "refused" ? "refused" : undefined;
  exchange.failed(failure, phase, error.m);
}
