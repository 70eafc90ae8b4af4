// Which lane carries the next exchange to a peer?
import type { ByteStream } from "../base/byte_stream.ts";
import { messageOf } from "../base/errors.ts";
import type { PeerId } from "../base/peer_id.ts";
import { type Ms, secondMs } from "../base/units.ts";
import type { RequesterLane } from "../lane/requester.ts";
import { bindRequester, countLanes, type LaneCounts, type LaneSettings } from "./bound_lane.ts";
import { ExchangeError } from "./types.ts";

/** Opens a stream for a lane to a peer, dialling it when needed (port; the mesh has the adapter). */
export type OpenLaneStream = (peer: PeerId, signal: AbortSignal) => Promise<ByteStream>;

/** Dial, handshake and protocol together; a frozen peer costs a request no more than this. */
const openMsMax: Ms = 2 * secondMs;
/** A peer that could not be reached is refused at once for this long, doubled for each further failure. */
const backOffMs = { first: 250, max: 10 * secondMs } as const;
/** A peer that stopped answering is not tried again before; a new connection of it ends the wait. A guess. */
const stalledMs: Ms = 5 * secondMs;
/** From so many peers on, those that could not be reached are forgotten once they would be tried again. */
const rememberedMax = 1_024;
/** A quarter of the shortest stall limit. */
const tickMs: Ms = 250;

/** All lanes to one peer. */
type PeerLanes = {
  current: { lane: RequesterLane; stream: ByteStream } | undefined;
  opening: Promise<RequesterLane> | undefined;
  failureCount: number;
  refuseUntilMs: Ms;
};

/** Keeps one lane per peer, opened on first use, replaced when it dies, stalls or a better path appears. */
export class LanePool {
  private readonly peers = new Map<PeerId, PeerLanes>();
  /** Every lane that lives, the replaced ones too. */
  private readonly lanes = new Map<RequesterLane, { peer: PeerId; stream: ByteStream }>();
  private timer: ReturnType<typeof setInterval> | undefined;
  private isClosed = false;

  constructor(
    private readonly openStream: OpenLaneStream,
    private readonly settings: LaneSettings,
    /** A lane failed for silence: evidence for membership. */
    private readonly onStalled: (peer: PeerId) => void = () => {},
  ) {}

  /** The lane to use, when one is ready: the fast path, which does not await. */
  ready(peer: PeerId): RequesterLane | undefined {
    const lane = this.peers.get(peer)?.current?.lane;
    return lane?.mayOpen ? lane : undefined;
  }

  /**
   * A lane that takes a new exchange, opened when there is none.
   * @throws {ExchangeError} Phase `not_sent`: unreachable, stalled or full.
   */
  async obtain(peer: PeerId): Promise<RequesterLane> {
    if (this.isClosed) throw unreachable("this node is stopping");
    const lanes = this.lanesOf(peer);
    const { current } = lanes;
    if (current?.lane.mayOpen) return current.lane;
    if (current?.lane.isStalled) {
      throw new ExchangeError("lane_stalled", "not_sent", "the worker has not answered for 2 s");
    }
    if (this.settings.clock.nowMs() < lanes.refuseUntilMs) {
      throw unreachable("the worker could not be reached a moment ago");
    }
    lanes.opening ??= this.open(peer, lanes).finally(() => lanes.opening = undefined);
    return await lanes.opening;
  }

  /** A direct path has come up: exchanges that start from now on use it. */
  betterPath(peer: PeerId): void {
    const lanes = this.peers.get(peer);
    if (lanes?.current?.stream.isRelayed) this.replace(lanes);
  }

  /** The peer was heard of again (connected): try it at once. */
  forgive(peer: PeerId): void {
    const lanes = this.peers.get(peer);
    if (!lanes) return;
    lanes.refuseUntilMs = 0;
    lanes.failureCount = 0;
  }

  /** Peers that something is known of. */
  get peerCount(): number {
    return this.peers.size;
  }

  /** Lanes, the exchanges on them and what waits to be sent. */
  counts(): LaneCounts {
    return countLanes([...this.lanes].map(([lane, { stream }]) => [lane, stream]));
  }

  /** Ends every lane; what runs on them fails. */
  close(): void {
    this.isClosed = true;
    clearInterval(this.timer);
    for (const { stream } of this.lanes.values()) stream.abort(new Error("this node is stopping"));
  }

  private lanesOf(peer: PeerId): PeerLanes {
    const known = this.peers.get(peer);
    if (known) return known;
    const lanes: PeerLanes = {
      current: undefined,
      opening: undefined,
      failureCount: 0,
      refuseUntilMs: 0,
    };
    if (this.peers.size >= rememberedMax) this.forgetUnreached();
    this.peers.set(peer, lanes);
    return lanes;
  }

  private forgetUnreached(): void {
    const nowMs = this.settings.clock.nowMs();
    for (const [peer, { current, opening, refuseUntilMs }] of this.peers) {
      if (!current && !opening && refuseUntilMs <= nowMs) this.peers.delete(peer);
    }
  }

  private async open(peer: PeerId, lanes: PeerLanes): Promise<RequesterLane> {
    this.replace(lanes);
    let stream: ByteStream;
    try {
      stream = await this.openStream(peer, AbortSignal.timeout(openMsMax));
    } catch (error) {
      this.backOff(lanes);
      throw unreachable(`the worker cannot be reached: ${messageOf(error)}`, error);
    }
    if (this.isClosed) {
      stream.abort(new Error("this node is stopping"));
      throw unreachable("this node is stopping");
    }
    const lane = bindRequester(stream, this.settings, () => this.drop(peer, lane));
    lanes.current = { lane, stream };
    lanes.failureCount = 0;
    this.lanes.set(lane, { peer, stream });
    this.timer ??= setInterval(() => this.tick(), tickMs);
    return lane;
  }

  private backOff(lanes: PeerLanes): void {
    const waitMs = Math.min(backOffMs.max, backOffMs.first * 2 ** lanes.failureCount);
    lanes.failureCount += 1;
    lanes.refuseUntilMs = this.settings.clock.nowMs() + waitMs;
  }

  private replace(lanes: PeerLanes): void {
    lanes.current?.lane.retire();
    lanes.current = undefined;
  }

  private drop(peer: PeerId, lane: RequesterLane): void {
    this.lanes.delete(lane);
    const lanes = this.peers.get(peer);
    if (lanes?.current?.lane === lane) lanes.current = undefined;
    if (lanes && !lanes.current && !lanes.opening && lanes.failureCount === 0) {
      this.peers.delete(peer);
    }
    if (this.lanes.size === 0) {
      clearInterval(this.timer);
      this.timer = undefined;
    }
  }

  private tick(): void {
    const nowMs = this.settings.clock.nowMs();
    for (const [lane, { peer, stream }] of [...this.lanes]) {
      const isCurrent = this.peers.get(peer)?.current?.lane === lane;
      if (lane.tick(nowMs) === "fail") this.fail(peer, lane, stream);
      // Closing our direction would leave the worker's open: it has nothing to say that would end it.
      else if (lane.openCount === 0 && !isCurrent) {
        stream.abort(new Error("a newer lane took over"));
      }
    }
  }

  private fail(peer: PeerId, lane: RequesterLane, stream: ByteStream): void {
    const lanes = this.peers.get(peer);
    if (lanes?.current?.lane === lane) {
      lanes.failureCount += 1;
      lanes.refuseUntilMs = this.settings.clock.nowMs() + stalledMs;
    }
    this.onStalled(peer);
    lane.closed("lane_stalled", "the worker has not answered for 4 s");
    stream.abort(new Error("the lane stalled"));
  }
}

function unreachable(message: string, cause?: unknown): ExchangeError {
  return new ExchangeError("unreachable", "not_sent", message, cause);
}
