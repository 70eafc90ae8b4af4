// How does a worker serve the exchanges that peers open?
import { mayUseService } from "../access/service_allow.ts";
import type { ByteStream } from "../base/byte_stream.ts";
import type { Log } from "../base/ports.ts";
import type { PeerId } from "../base/peer_id.ts";
import type { WireRequest } from "../lane/head.ts";
import type { ResponderLane } from "../lane/responder.ts";
import type { ResponderExchange } from "../lane/responder_exchange.ts";
import { bindResponder, countLanes, type LaneCounts, type LaneSettings } from "./bound_lane.ts";
import type { EngineCalls } from "./engine_calls.ts";
import { EngineSocket } from "./engine_socket.ts";
import type { ExchangeRequestHead } from "./types.ts";
import type { FindUpstream, Upstream } from "./upstream.ts";

/** What the server works with. */
export type ExchangeServerPorts = {
  readonly settings: LaneSettings;
  readonly calls: EngineCalls;
  readonly findUpstream: FindUpstream;
  readonly log: Log;
};

/** Takes lanes from authenticated peers and passes their exchanges to this node's engines. */
export class ExchangeServer {
  private readonly lanes = new Map<ResponderLane, ByteStream>();
  private readonly sockets = new Set<EngineSocket>();

  constructor(private readonly ports: ExchangeServerPorts) {}

  /** @param peer Authenticated by the connection and admitted to the network. */
  accept(peer: PeerId, stream: ByteStream): void {
    const lane: ResponderLane = bindResponder(
      stream,
      this.ports.settings,
      (exchange, head, body, isEnd) => this.serve(peer, exchange, head, body, isEnd),
      () => this.lanes.delete(lane),
    );
    this.lanes.set(lane, stream);
  }

  /** Lanes from peers, the exchanges that they have open here and what waits to be sent. */
  counts(): LaneCounts {
    return countLanes([...this.lanes]);
  }

  close(): void {
    for (const stream of this.lanes.values()) stream.abort(new Error("this node is stopping"));
    for (const socket of [...this.sockets]) socket.canceled();
  }

  private serve(
    peer: PeerId,
    exchange: ResponderExchange,
    wire: WireRequest,
    body: Uint8Array,
    isEnd: boolean,
  ): void {
    const upstream = this.ports.findUpstream(wire.s);
    if (!upstream) {
      return exchange.fail(
        "no_such_service",
        "refused",
        `no service "${wire.s.slice(0, 80)}" here`,
      );
    }
    if (!mayUseService(upstream.allow, peer)) {
      this.ports.log.warn("exchange.refused", { peer, service: wire.s, reason: "not_allowed" });
      return exchange.fail("not_allowed", "refused", "this service is not open to the asking peer");
    }
    const head: ExchangeRequestHead = {
      service: wire.s,
      method: wire.m,
      path: wire.p,
      headers: wire.h,
      bodyBytes: wire.n,
    };
    if (wire.u) return this.openSocket(upstream, head, exchange);
    exchange.bind(this.ports.calls.start(upstream, head, body, isEnd, exchange));
  }

  private openSocket(
    upstream: Upstream,
    head: ExchangeRequestHead,
    exchange: ResponderExchange,
  ): void {
    const socket: EngineSocket = new EngineSocket(
      exchange,
      this.ports.settings.clock,
      () => this.sockets.delete(socket),
    );
    this.sockets.add(socket);
    exchange.bind(socket);
    void socket.start(upstream, head);
  }
}
