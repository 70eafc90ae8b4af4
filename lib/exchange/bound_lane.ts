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
/**
 * With this many exchanges, for so long: a node is near its limit then, and what it saves is more than the wait.
 * Measured with 500 streams on two full cores, side by side: median time to a first event 10.5 instead of 15 to 21 ms,
 * p99 of gaps 40 instead of 41 to 45, processor of the head 0 and 8 % less in two runs, of the worker 5 and 6 %. With 200
 * streams gaps grew by 1 ms.
 */
const gatherManyMs: Ms = 3;
const gatherManyMin = 300;
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
    const waitMs = openCount < gatherManyMin ? gatherMs : gatherManyMs;
    if (!mayWait || openCount < gatherOpenMin || !this.hasFlushedWithin(waitMs)) {
      setImmediate(this.flush);
    } else if (!this.isTimed) {
      this.isTimed = true;
      setTimeout(this.timed, waitMs);
    }
  }

  private hasFlushedWithin(ms: Ms): boolean {
    return this.clock.nowMs() - this.flushedAtMs < ms;
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
