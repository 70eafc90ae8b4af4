// How does a lane live on a stream?
import type { ByteStream } from "../base/byte_stream.ts";
import { messageOf } from "../base/errors.ts";
import type { Clock } from "../base/ports.ts";
import type { WindowBudget } from "../lane/window.ts";
import { RequesterLane } from "../lane/requester.ts";
import { type OnExchange, ResponderLane } from "../lane/responder.ts";

/** What every lane of a process shares. */
export type LaneSettings = {
  readonly clock: Clock;
  readonly budget: WindowBudget;
  /** Exchanges that one requester may have open here. */
  readonly exchangesMax: number;
};

/**
 * Runs `flush` when what this turn of the event loop produces has been produced. Answers to several requests
 * that became ready together are continued in microtasks, a few levels deep; after those, one write carries all.
 */
function afterTurn(flush: () => void): void {
  queueMicrotask(() => queueMicrotask(() => queueMicrotask(flush)));
}

/** A requester's lane on a stream. `onClosed` runs after its exchanges have failed. */
export function bindRequester(
  stream: ByteStream,
  settings: LaneSettings,
  onClosed: () => void,
): RequesterLane {
  const { clock } = settings;
  const lane = new RequesterLane({
    sink: { send: (batch) => stream.send(batch), requestFlush: () => afterTurn(flush) },
    budget: settings.budget,
    nowMs: clock.nowMs(),
    exchangesMax: settings.exchangesMax,
  });
  function flush(): void {
    lane.flush();
  }
  stream.bind({
    data: (chunk) => guard(stream, () => lane.receive(chunk, clock.nowMs())),
    drained: () => lane.drained(),
    closed: (error) => {
      lane.closed(
        "lane_closed",
        `the connection to the worker ended: ${messageOf(error ?? "closed")}`,
      );
      onClosed();
    },
  });
  return lane;
}

/** A responder's lane on a stream. */
export function bindResponder(
  stream: ByteStream,
  settings: LaneSettings,
  onExchange: OnExchange,
  onClosed: () => void,
): ResponderLane {
  const { clock } = settings;
  const lane = new ResponderLane({
    sink: { send: (batch) => stream.send(batch), requestFlush: () => afterTurn(flush) },
    budget: settings.budget,
    nowMs: clock.nowMs(),
    exchangesMax: settings.exchangesMax,
  }, onExchange);
  function flush(): void {
    lane.flush();
  }
  stream.bind({
    data: (chunk) => guard(stream, () => lane.receive(chunk, clock.nowMs())),
    drained: () => lane.drained(),
    closed: (error) => {
      lane.closed(messageOf(error ?? "the requester's lane ended"));
      onClosed();
    },
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
