// What do both ends of a lane have in common?
import { OtelaError } from "../base/errors.ts";
import type { Ms } from "../base/units.ts";
import { Outbox } from "./body_sender.ts";
import { FrameReader, FrameType, payloadBytesMax } from "./frame.ts";
import { FrameWriter, type LaneSink } from "./frame_writer.ts";
import { decodeHello, encodeHead, type WireHello } from "./head.ts";
import { StallWatch } from "./stall.ts";
import { type WindowBudget, windowStartBytes } from "./window.ts";

/** What a lane is made with. */
export type LaneOptions = {
  readonly sink: LaneSink;
  /** Shared by all lanes of the process. */
  readonly budget: WindowBudget;
  readonly nowMs: Ms;
  /** Exchanges that this end lets the other open. */
  readonly exchangesMax: number;
};

/** Before the other side said its own: a first request need not wait for its hello. */
const helloAssumed: WireHello = {
  frameMax: payloadBytesMax,
  window: windowStartBytes,
  exchangesMax: 1_000,
  features: [],
};

/**
 * One end of a lane, without its stream: bytes come in through `receive`, leave through the sink, and time is
 * a value. The two ends differ: only the requester opens exchanges.
 */
export abstract class Lane {
  protected readonly writer: FrameWriter;
  protected readonly outbox: Outbox;
  protected readonly budget: WindowBudget;
  protected readonly watch: StallWatch;
  protected peerHello: WireHello = helloAssumed;
  /** The best of all pings; what windows grow by. A stall must not count as distance. */
  roundTripMs: Ms = 0;
  private readonly reader = new FrameReader();
  private pingAtMs: Ms | undefined;
  private isMeasured = false;
  protected nowMs: Ms;
  protected isClosed = false;

  constructor(options: LaneOptions) {
    this.writer = new FrameWriter(options.sink);
    this.outbox = new Outbox(this.writer);
    this.budget = options.budget;
    this.watch = new StallWatch(options.nowMs);
    this.nowMs = options.nowMs;
    const hello: WireHello = {
      frameMax: payloadBytesMax,
      window: windowStartBytes,
      exchangesMax: options.exchangesMax,
      features: [],
    };
    this.writer.frame(FrameType.hello, 0, encodeHead(hello));
  }

  abstract get openCount(): number;
  protected abstract onFrame(type: number, id: number, payload: Uint8Array): void;
  /** Bytes held for heads of this turn are written now. */
  protected abstract beforeFlush(): void;

  /**
   * Bytes from the other side.
   * @throws {OtelaError} `lane_failed`: close the lane, it cannot go on.
   */
  receive(chunk: Uint8Array, nowMs: Ms): void {
    if (this.isClosed) return;
    this.nowMs = nowMs;
    this.watch.heard(nowMs);
    this.reader.push(chunk, this.dispatch);
  }

  /** Ends the turn: what it produced leaves in one write. */
  flush(): void {
    if (this.isClosed) return;
    this.beforeFlush();
    this.writer.flush();
  }

  /** The stream takes bytes again. */
  drained(): void {
    if (this.isClosed) return;
    this.writer.isBlocked = false;
    this.outbox.pump();
  }

  protected ping(): void {
    if (this.pingAtMs !== undefined) return;
    this.pingAtMs = this.nowMs;
    this.writer.frame(FrameType.ping, 0);
  }

  private readonly dispatch = (type: number, id: number, payload: Uint8Array): void => {
    switch (type) {
      case FrameType.hello:
        return this.onHello(payload);
      case FrameType.ping:
        return this.writer.frame(FrameType.pong, 0);
      case FrameType.pong:
        return this.onPong();
      default:
        return this.onFrame(type, id, payload);
    }
  };

  /**
   * A hello measures nothing: the other side's leaves with its consent to the stream, however far it is. So each
   * end asks once itself; taken for close, a distant reader would never be given a large window.
   */
  private onHello(payload: Uint8Array): void {
    this.peerHello = decodeHello(payload);
    this.ping();
  }

  private onPong(): void {
    if (this.pingAtMs === undefined) return;
    const roundTripMs = this.nowMs - this.pingAtMs;
    this.pingAtMs = undefined;
    this.roundTripMs = this.isMeasured ? Math.min(this.roundTripMs, roundTripMs) : roundTripMs;
    this.isMeasured = true;
  }

  /** A type that this end does not expect. @throws {OtelaError} From 128 on. */
  protected refuseType(type: number): void {
    if (type < 128) return;
    throw new OtelaError(
      "lane_failed",
      `Cannot go on with a lane as frame type ${type} is unknown`,
    );
  }
}
