// How does a lane live on a stream?
import { setImmediate } from "node:timers";
import type { ByteStream } from "../base/byte_stream.ts";
import { messageOf } from "../base/errors.ts";
import type { Clock } from "../base/ports.ts";
import type { Bytes, Ms } from "../base/units.ts";
import type { WindowBudget } from "../lane/window.ts";
import type { LaneSink } from "../lane/frame_writer.ts";
import type { Lane, LaneOptions } from "../lane/lane.ts";
import { RequesterLane } from "../lane/requester.ts";
import { type OnExchange, ResponderLane } from "../lane/responder.ts";

/** What every lane of a process shares. */
export type LaneSettings = {
  readonly clock: Clock;
  readonly budget: WindowBudget;
  /** Exchanges that one requester may have open here. */
  readonly exchangesMax: number;
};

/** What goes on on some lanes, for metrics. */
export type LaneCounts = {
  readonly lanes: number;
  readonly exchanges: number;
  /** Given to the connections and not yet sent. */
  readonly unsentBytes: Bytes;
};

/** Sums up lanes and their streams. */
export function countLanes(bound: readonly (readonly [Lane, ByteStream])[]): LaneCounts {
  let [exchanges, unsentBytes] = [0, 0];
  for (const [lane, stream] of bound) {
    exchanges += lane.openCount;
    unsentBytes += stream.unsentBytes;
  }
  return { lanes: bound.length, exchanges, unsentBytes };
}

/** A flush that may wait does so for this long after the one before it. */
const gatherMs: Ms = 1;
/** With fewer exchanges there is too little to gather that would be worth a wait. A guess. */
const gatherOpenMin = 16;

/** When do the frames of a lane leave? */
class FlushClock {
  private flushedAtMs: Ms = -Infinity;
  private isTimed = false;

  constructor(
    private readonly clock: Clock,
    private readonly openCount: () => number,
    private readonly flushLane: () => void,
  ) {}

  /**
   * Not in a microtask: the server hands over each request in a stack of its own and runs microtasks in between,
   * so they would give a batch to each request (measured: 1.0 a batch instead of 29 at 50 connections, and two
   * thirds of the speed).
   * What may wait is gathered while much of it comes, so that noise, yamux and the system call are paid once for
   * more of it.
   */
  ask(mayWait: boolean): void {
    const openCount = this.openCount();
    // Alone there is nothing to wait for, and the way round the loop costs 13 µs.
    if (openCount <= 1) return queueMicrotask(this.flush);
    if (!mayWait || openCount < gatherOpenMin || !this.hasJustFlushed) {
      setImmediate(this.flush);
    } else if (!this.isTimed) {
      this.isTimed = true;
      setTimeout(this.timed, gatherMs);
    }
  }

  private get hasJustFlushed(): boolean {
    return this.clock.nowMs() - this.flushedAtMs < gatherMs;
  }

  private readonly flush = (): void => {
    this.flushedAtMs = this.clock.nowMs();
    this.flushLane();
  };

  private readonly timed = (): void => {
    this.isTimed = false;
    this.flush();
  };
}

/** A requester's lane on a stream. `onClosed` runs after its exchanges have failed. */
export function bindRequester(
  stream: ByteStream,
  settings: LaneSettings,
  onClosed: () => void,
): RequesterLane {
  return live(stream, settings, (options) => new RequesterLane(options), (lane, error) => {
    const why = `the connection to the worker ended: ${messageOf(error ?? "closed")}`;
    lane.closed("lane_closed", why);
    onClosed();
  });
}

/** A responder's lane on a stream. */
export function bindResponder(
  stream: ByteStream,
  settings: LaneSettings,
  onExchange: OnExchange,
  onClosed: () => void,
): ResponderLane {
  const make = (options: LaneOptions) => new ResponderLane(options, onExchange);
  return live(stream, settings, make, (lane, error) => {
    lane.closed(messageOf(error ?? "the requester's lane ended"));
    onClosed();
  });
}

function live<L extends Lane>(
  stream: ByteStream,
  { clock, budget, exchangesMax }: LaneSettings,
  make: (options: LaneOptions) => L,
  closed: (lane: L, error: Error | undefined) => void,
): L {
  let openCount = () => 0; // The lane says hello before it can be asked.
  const flushes = new FlushClock(clock, () => openCount(), () => lane.flush());
  const sink: LaneSink = {
    send: (batch) => stream.send(batch),
    requestFlush: (mayWait) => flushes.ask(mayWait),
  };
  const lane = make({ sink, budget, nowMs: clock.nowMs(), exchangesMax });
  openCount = () => lane.openCount;
  stream.bind({
    data: (chunk) => guard(stream, () => lane.receive(chunk, clock.nowMs())),
    drained: () => lane.drained(),
    closed: (error) => closed(lane, error),
  });
  return lane;
}

/** Bytes that break the protocol end the lane, and nothing else. */
function guard(stream: ByteStream, receive: () => void): void {
  try {
    receive();
  } catch (error) {
    stream.abort(error instanceof Error ? error : new Error(messageOf(error)));
  }
}
