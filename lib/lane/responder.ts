// How does the end that answers exchanges run a lane?
import { ByteSlab } from "../base/byte_slab.ts";
import { NumberTable } from "../base/number_table.ts";
import { OtelaError } from "../base/errors.ts";
import { readU32 } from "../base/u32.ts";
import { FrameType } from "./frame.ts";
import { HeadAssembler, type ReceivedHead } from "./head_frames.ts";
import { decodeRequest, encodeHead, type WireRequest } from "./head.ts";
import { Lane, type LaneOptions } from "./lane.ts";
import { ResponderExchange } from "./responder_exchange.ts";
import { windowStartBytes } from "./window.ts";

/** Heads of which a part has arrived: 2 MiB that no window counts. Our own requesters send heads whole, one by one. */
const halfHeadsMax = 32;

/** Who serves the requests of a lane. */
export type OnExchange = (
  exchange: ResponderExchange,
  head: WireRequest,
  /** The first bytes, or all of them when `isEnd`; valid until the call returns. */
  body: Uint8Array,
  isEnd: boolean,
) => void;

/** The responder's end: hears requests and carries their answers. */
export class ResponderLane extends Lane {
  private readonly exchanges = new NumberTable<ResponderExchange>();
  private readonly assemblers = new Map<number, HeadAssembler>();
  /** Answers whose head was given this turn and may still get their first bytes, or all of them, beside it. */
  private heldHeads: ResponderExchange[] = [];
  private readonly slab = new ByteSlab();
  private idSeenMax = 0;
  private readonly exchangesMax: number;

  constructor(options: LaneOptions, private readonly onExchange: OnExchange) {
    super(options);
    this.exchangesMax = options.exchangesMax;
  }

  get openCount(): number {
    return this.exchanges.size;
  }

  /** The lane is over: engines are told to stop, in this turn. */
  closed(reason: string): void {
    if (this.isClosed) return;
    this.isClosed = true;
    const open = this.exchanges.values();
    this.exchanges.clear();
    this.assemblers.clear();
    for (const exchange of open) exchange.onCancel(reason);
  }

  protected override beforeFlush(): void {
    if (this.heldHeads.length === 0) return;
    const held = this.heldHeads;
    this.heldHeads = [];
    for (const exchange of held) exchange.writeHeldHead();
  }

  protected override onFrame(type: number, id: number, payload: Uint8Array): void {
    if (type === FrameType.request) return this.onRequest(id, payload);
    const exchange = this.exchanges.get(id);
    switch (type) {
      case FrameType.data:
        return exchange?.onData(payload);
      case FrameType.end:
        return exchange?.onEnd();
      case FrameType.cancel:
        this.assemblers.delete(id);
        return exchange?.onCancel("the requester canceled");
      case FrameType.credit:
        return exchange?.onCredit(readU32(payload, 0));
      case FrameType.text:
      case FrameType.binary:
        return exchange?.onMessage(type === FrameType.text, payload);
      case FrameType.socketClose:
        return exchange?.onSocketClose(payload);
      default:
        return this.refuseType(type);
    }
  }

  private onRequest(id: number, payload: Uint8Array): void {
    const assembler = this.assemblers.get(id) ?? this.begin(id);
    const received = assembler.push(payload);
    if (!received) return;
    this.assemblers.delete(id);
    const head = decodeRequest(received.head);
    if (this.exchanges.size >= this.exchangesMax) return this.refuse(id);
    const windowBytes = this.bodyWindow(received);
    if (windowBytes === undefined) return this.refuse(id);
    const exchange = new ResponderExchange(id, {
      lane: this,
      writer: this.writer,
      outbox: this.outbox,
      slab: this.slab,
      budget: this.budget,
      windowBytes,
      answerWindowBytes: head.w,
      nowMs: this.nowMs,
      hold: (held) => {
        this.heldHeads.push(held);
        this.writer.askFlush();
      },
      forget: () => this.exchanges.delete(id),
    });
    this.exchanges.set(id, exchange);
    exchange.receivedWithHead(received.body.length);
    this.onExchange(exchange, head, received.body, received.isEnd);
  }

  private begin(id: number): HeadAssembler {
    if (id <= this.idSeenMax) {
      throw new OtelaError("lane_failed", `Cannot open exchange ${id} as ids must ascend`);
    }
    this.idSeenMax = id;
    const assembler = new HeadAssembler();
    if (this.assemblers.size >= halfHeadsMax) {
      throw new OtelaError(
        "lane_failed",
        "Cannot open an exchange as too many heads are half sent",
      );
    }
    this.assemblers.set(id, assembler);
    return assembler;
  }

  /** A body that came whole with its head needs no window; for any other the hello's was promised. */
  private bodyWindow(received: ReceivedHead): number | undefined {
    if (received.isEnd) return 0;
    return this.budget.grow(windowStartBytes) ? windowStartBytes : undefined;
  }

  private refuse(id: number): void {
    const error = { f: "overloaded", p: "refused", m: "the worker takes no more exchanges now" };
    this.writer.frame(FrameType.error, id, encodeHead(error));
  }
}
