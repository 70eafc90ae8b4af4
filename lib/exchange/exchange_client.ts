// How does a node ask a peer, or itself, to serve a request?
import { OtelaError } from "../base/errors.ts";
import type { Clock } from "../base/ports.ts";
import type { PeerId } from "../base/peer_id.ts";
import type { WireRequest } from "../lane/head.ts";
import type { RequesterLane } from "../lane/requester.ts";
import type { RequesterExchange } from "../lane/requester_exchange.ts";
import { Answer } from "./answer.ts";
import { BodyPump } from "./body_pump.ts";
import type { LanePool } from "./lane_pool.ts";
import type { LocalExchanger } from "./local_exchanger.ts";
import { SocketAnswer } from "./socket_answer.ts";
import {
  type BodyStream,
  type Exchange,
  ExchangeError,
  type Exchanger,
  type ExchangeRequestHead,
  type ObserveAnswer,
  type SocketOpening,
} from "./types.ts";

/** What the client works with. */
export type ExchangeClientPorts = {
  readonly self: PeerId;
  readonly clock: Clock;
  readonly pool: LanePool;
  readonly local: LocalExchanger;
  /** A worker said how many exchanges it has open for a service. */
  readonly onLoad: (peer: PeerId, service: string, load: number) => void;
};

/** "Abnormal closure" and "try again later": the client is gone, or was sent away for what it has queued. */
const givenUpCodes = new Set([1006, 1013]);

const nothing = new Uint8Array(0);

/** Exchanges over lanes, and calls of this node's own engines without the network. */
export class ExchangeClient implements Exchanger {
  /** Exchanges begun since the start. */
  startedCount = 0;

  constructor(private readonly ports: ExchangeClientPorts) {}

  request(
    peer: PeerId,
    head: ExchangeRequestHead,
    body: Uint8Array<ArrayBuffer> | null | BodyStream,
    observe?: ObserveAnswer,
  ): Exchange {
    this.startedCount++;
    if (peer === this.ports.self) return this.ports.local.request(head, body, observe);
    return new LaneExchange(this.ports, peer, head, body, observe);
  }

  async openSocket(
    peer: PeerId,
    head: ExchangeRequestHead,
    signal: AbortSignal,
  ): Promise<SocketOpening> {
    this.startedCount++;
    if (peer === this.ports.self) return await this.ports.local.openSocket(head, signal);
    const lane = await this.ports.pool.obtain(peer);
    const answer = new SocketAnswer();
    const wire = { ...wireHead(head), u: 1 as const };
    const exchange = openOn(lane, wire, nothing, false, answer, this.ports.clock);
    answer.attach({
      send: (isText, message) => exchange.sendMessage(isText, message),
      close: (code, reason) => {
        // What waits for an engine that does not read would wait for ever, and its close behind it.
        if (givenUpCodes.has(code)) exchange.cancel();
        else exchange.closeSocket(code, reason);
      },
      consumed: (bytes) => exchange.consumed(bytes, this.ports.clock.nowMs()),
      cancel: () => exchange.cancel(),
    });
    return await answer.opening(signal);
  }
}

/** One exchange over a lane. */
class LaneExchange implements Exchange {
  readonly response: Exchange["response"];
  private readonly answer: Answer;
  private exchange: RequesterExchange | undefined;
  private pump: BodyPump | undefined;
  private isCanceled = false;

  constructor(
    private readonly ports: ExchangeClientPorts,
    peer: PeerId,
    head: ExchangeRequestHead,
    body: Uint8Array<ArrayBuffer> | null | BodyStream,
    observe: ObserveAnswer | undefined,
  ) {
    this.answer = new Answer(
      (load) => ports.onLoad(peer, head.service, load),
      () => this.pump?.writable(),
      () => this.pump?.stop(),
      observe,
    );
    this.answer.source = {
      consumed: (bytes) => this.exchange?.consumed(bytes, this.ports.clock.nowMs()),
      cancel: () => this.cancel(),
    };
    this.response = this.answer.response;
    const lane = ports.pool.ready(peer);
    if (lane) this.open(lane, head, body);
    else {
      ports.pool.obtain(peer).then(
        (obtained) => this.open(obtained, head, body),
        (error) => this.refuse(error),
      );
    }
  }

  cancel(): void {
    if (this.isCanceled) return;
    this.isCanceled = true;
    this.pump?.stop();
    this.exchange?.cancel();
    const phase = this.exchange?.phase ?? "not_sent";
    this.answer.fail("canceled", phase, "the exchange was canceled");
  }

  private open(
    lane: RequesterLane,
    head: ExchangeRequestHead,
    body: Uint8Array | null | BodyStream,
  ): void {
    if (this.isCanceled) return;
    const isStream = body instanceof ReadableStream;
    try {
      const first = isStream || body === null ? nothing : body;
      const { clock } = this.ports;
      this.exchange = openOn(lane, wireHead(head), first, !isStream, this.answer, clock);
    } catch (error) {
      return this.refuse(error);
    }
    if (!isStream) return;
    const exchange = this.exchange;
    this.pump = new BodyPump(body, {
      send: (chunk) => exchange.sendBody(chunk),
      end: () => exchange.endBody(),
      fail: () => this.cancel(),
    });
  }

  private refuse(error: unknown): void {
    if (error instanceof ExchangeError) this.answer.fail(error.failure, error.phase, error.message);
    else this.answer.fail("protocol", "not_sent", String(error));
  }
}

function wireHead(head: ExchangeRequestHead): Omit<WireRequest, "w"> {
  return { s: head.service, m: head.method, p: head.path, h: head.headers, n: head.bodyBytes };
}

function openOn(
  lane: RequesterLane,
  head: Omit<WireRequest, "w">,
  body: Uint8Array,
  isEnd: boolean,
  sink: Parameters<RequesterLane["open"]>[3],
  clock: Clock,
): RequesterExchange {
  try {
    return lane.open(head, body, isEnd, sink, clock.nowMs());
  } catch (error) {
    if (!(error instanceof OtelaError)) throw error;
    const failure = error.code === "overloaded" ? "overloaded" : "protocol";
    throw new ExchangeError(failure, "not_sent", error.message, error);
  }
}
