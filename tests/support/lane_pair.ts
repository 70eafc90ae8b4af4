// How do tests join the two ends of a lane in one thread and in virtual time?
import type { Bytes, Ms } from "../../lib/base/units.ts";
import type { Lane } from "../../lib/lane/lane.ts";
import type { WireRequest } from "../../lib/lane/head.ts";
import type { AnswerSink, RequesterExchange } from "../../lib/lane/requester_exchange.ts";
import { RequesterLane } from "../../lib/lane/requester.ts";
import type { RequestSink, ResponderExchange } from "../../lib/lane/responder_exchange.ts";
import { ResponderLane } from "../../lib/lane/responder.ts";
import { FrameReader, FrameType } from "../../lib/lane/frame.ts";
import { WindowBudget } from "../../lib/lane/window.ts";

export type LanePairOptions = {
  /** `send` returns false from here on. */
  readonly unsentBytesMax?: Bytes;
  /** Length of the next piece that arrives, of `left` bytes. */
  readonly cutAt?: (left: Bytes) => Bytes;
  readonly exchangesMax?: number;
  readonly budgetBytesMax?: Bytes;
  /** What a served exchange does besides being recorded. */
  readonly serve?: (served: Served) => void;
};

/** One frame as it travelled. */
export type SeenFrame = { readonly type: number; readonly id: number; readonly bytes: Bytes };

/** One exchange at the responder and all it heard. */
export type Served = {
  readonly exchange: ResponderExchange;
  readonly head: WireRequest;
  readonly heard: LaneRecord;
};

/** Everything one sink was told, in order. */
export class LaneRecord implements AnswerSink, RequestSink {
  readonly events: string[] = [];
  readonly chunks: Uint8Array[] = [];
  bodyBytes: Bytes = 0;
  writableCount = 0;
  onWritable: () => void = () => {};
  onData: (bytes: Bytes) => void = () => {};

  /** Pieces of the body in one. */
  get body(): Uint8Array {
    const all = new Uint8Array(this.bodyBytes);
    let at = 0;
    for (const chunk of this.chunks) {
      all.set(chunk, at);
      at += chunk.length;
    }
    return all;
  }

  head(status: number, headers: string[], body: Uint8Array, isEnd: boolean, load?: number): void {
    this.events.push(`head ${status} ${headers.join(",")}${isEnd ? ` end ${load}` : ""}`);
    if (body.length > 0) this.take(body);
  }

  data(chunk: Uint8Array): void {
    this.events.push("data");
    this.take(chunk);
  }

  end(trailers: string[] = [], load?: number): void {
    this.events.push(`end ${trailers.join(",")} ${load}`);
  }

  fail(failure: string, phase: string, message: string): void {
    this.events.push(`fail ${failure} ${phase} ${message}`);
  }

  writable(): void {
    this.writableCount++;
    this.onWritable();
  }

  bodyUnwanted(): void {
    this.events.push("bodyUnwanted");
  }

  canceled(reason: string): void {
    this.events.push(`canceled ${reason}`);
  }

  messagePart(isText: boolean, part: Uint8Array, isLast: boolean): void {
    this.events.push(`${isText ? "text" : "binary"} ${part.length}${isLast ? " last" : ""}`);
    this.take(part);
  }

  socketClosed(code: number, reason: string): void {
    this.events.push(`closed ${code} ${reason}`);
  }

  private take(chunk: Uint8Array): void {
    this.chunks.push(chunk.slice());
    this.bodyBytes += chunk.length;
    this.onData(chunk.length);
  }
}

const nothing = new Uint8Array(0);

/** Both ends, and the bytes between them. Nothing moves until `settle` or `step` is called. */
export class LanePair {
  nowMs: Ms = 0;
  readonly requesterBudget: WindowBudget;
  readonly responderBudget: WindowBudget;
  readonly requester: RequesterLane;
  readonly responder: ResponderLane;
  readonly served: Served[] = [];
  readonly toResponder: Wire;
  readonly toRequester: Wire;

  constructor(options: LanePairOptions = {}) {
    this.requesterBudget = new WindowBudget(options.budgetBytesMax);
    this.responderBudget = new WindowBudget(options.budgetBytesMax);
    this.toResponder = new Wire(options);
    this.toRequester = new Wire(options);
    const exchangesMax = options.exchangesMax ?? 1_000;
    this.requester = new RequesterLane({
      sink: this.toResponder,
      budget: this.requesterBudget,
      nowMs: 0,
      exchangesMax,
    });
    this.responder = new ResponderLane(
      { sink: this.toRequester, budget: this.responderBudget, nowMs: 0, exchangesMax },
      (exchange, head, body, isEnd) => {
        const heard = new LaneRecord();
        exchange.bind(heard);
        if (body.length > 0) heard.data(body);
        if (isEnd) heard.end();
        const served = { exchange, head, heard };
        this.served.push(served);
        options.serve?.(served);
      },
    );
  }

  /** Opens an exchange for a plain request. */
  open(
    body: Uint8Array = nothing,
    isEnd = true,
    more: Partial<WireRequest> = {},
  ): { exchange: RequesterExchange; heard: LaneRecord } {
    const heard = new LaneRecord();
    const head = { s: "llm", m: "POST", p: "/v1/x", h: [], n: isEnd ? body.length : -1, ...more };
    return { exchange: this.requester.open(head, body, isEnd, heard, this.nowMs), heard };
  }

  /** What each side produced leaves, and what was on its way arrives. @returns Whether anything moved. */
  step(): boolean {
    const wasMoved = [
      this.toResponder.move(this.requester, this.responder, this.nowMs),
      this.toRequester.move(this.responder, this.requester, this.nowMs),
    ];
    return wasMoved.includes(true);
  }

  /** Steps until nothing moves. */
  settle(): void {
    for (let count = 0; this.step(); count++) {
      if (count > 1_000_000) throw new Error("The lane never comes to rest");
    }
  }

  get reservedBytes(): Bytes {
    return this.requesterBudget.reservedBytes + this.responderBudget.reservedBytes;
  }
}

/** One direction. */
export class Wire {
  readonly batches: Uint8Array[] = [];
  readonly frames: SeenFrame[] = [];
  batchCount = 0;
  flushAskedCount = 0;
  unsentBytes: Bytes = 0;
  unsentBytesSeenMax: Bytes = 0;
  isHeld = false;
  private isFlushAsked = false;
  private owesDrained = false;
  private readonly reader = new FrameReader();

  constructor(private readonly options: LanePairOptions) {}

  send(batch: Uint8Array): boolean {
    this.batches.push(batch);
    this.batchCount++;
    this.unsentBytes += batch.length;
    this.unsentBytesSeenMax = Math.max(this.unsentBytesSeenMax, this.unsentBytes);
    this.reader.push(batch, (type, id, payload) => {
      this.frames.push({ type, id, bytes: payload.length });
    });
    if (this.unsentBytes < (this.options.unsentBytesMax ?? 2 ** 21)) return true;
    this.owesDrained = true;
    return false;
  }

  requestFlush(): void {
    this.flushAskedCount++;
    this.isFlushAsked = true;
  }

  move(from: Lane, to: Lane, nowMs: Ms): boolean {
    let wasMoved = false;
    if (this.isFlushAsked) {
      this.isFlushAsked = false;
      wasMoved = true;
      from.flush();
    }
    if (this.isHeld) return wasMoved;
    for (let batch = this.batches.shift(); batch; batch = this.batches.shift()) {
      wasMoved = true;
      for (let at = 0; at < batch.length;) {
        const left = batch.length - at;
        const end = at + Math.max(1, Math.min(left, this.options.cutAt?.(left) ?? left));
        const piece = batch.slice(at, end);
        to.receive(piece, nowMs);
        piece.fill(0xdd); // Whoever keeps it without copying is found.
        at = end;
      }
      this.unsentBytes -= batch.length;
    }
    if (this.owesDrained) {
      this.owesDrained = false;
      wasMoved = true;
      from.drained();
    }
    return wasMoved;
  }

  /** Frames of one type, or all but hellos and pings. */
  framesOf(type?: number): SeenFrame[] {
    const quiet: number[] = [FrameType.hello, FrameType.ping, FrameType.pong];
    return this.frames.filter((frame) =>
      type === undefined ? !quiet.includes(frame.type) : frame.type === type
    );
  }
}
