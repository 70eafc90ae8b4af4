// How do two connected nodes keep their registries equal?
import type { ByteStream } from "../base/byte_stream.ts";
import { messageOf } from "../base/errors.ts";
import type { Clock, Log } from "../base/ports.ts";
import type { PeerId } from "../base/peer_id.ts";
import { type Ms, secondMs } from "../base/units.ts";
import { SyncSession } from "../registry/sync.ts";
import type { SyncTable } from "../registry/sync_table.ts";

/** What the driver works with. */
export type SyncDriverPorts = {
  readonly self: PeerId;
  readonly table: SyncTable;
  readonly clock: Clock;
  readonly log: Log;
  readonly openStream: (peer: PeerId, signal: AbortSignal) => Promise<ByteStream>;
  readonly arrived: (from: PeerId, envelopes: readonly Uint8Array[]) => void;
};

/** A mismatch must last a second before a sync starts. */
const tickMs: Ms = secondMs;
const openMsMax: Ms = 5 * secondMs;
/** A message takes about a millisecond to put together; then requests have their turn. */
const messagesPerTurn = 4;

type Running = {
  readonly session: SyncSession;
  readonly stream: ByteStream;
  isBlocked: boolean;
  /** More is to be said in a later turn of the event loop. */
  isWaiting: boolean;
};

/** One kept sync stream per connected peer, opened by the one with the smaller PeerId. */
export class SyncDriver {
  private readonly running = new Map<PeerId, Running>();
  private readonly opening = new Set<PeerId>();
  private readonly connected = new Set<PeerId>();
  private readonly timer: ReturnType<typeof setInterval>;

  constructor(private readonly ports: SyncDriverPorts) {
    this.timer = setInterval(() => this.tick(), tickMs);
  }

  opened(peer: PeerId): void {
    this.connected.add(peer);
    if (this.ports.self < peer) void this.open(peer);
  }

  disconnected(peer: PeerId): void {
    this.connected.delete(peer);
    this.running.get(peer)?.stream.abort(new Error("the peer is gone"));
  }

  /** A peer opened the stream. */
  accept(peer: PeerId, stream: ByteStream): void {
    this.start(peer, stream, false);
  }

  /** Shows one envelope to a peer, when there is a stream to it. */
  show(peer: PeerId, envelope: Uint8Array): void {
    const running = this.running.get(peer);
    if (!running) return;
    running.session.show(envelope);
    this.send(running);
  }

  /** A probe told the peer's root. */
  rootSeen(peer: PeerId, root: string): void {
    const running = this.running.get(peer);
    if (!running) return;
    running.session.peerRootSeen(root, this.ports.clock.nowMs());
    this.send(running);
  }

  /** The registry has worked: sessions that waited for it go on. */
  worked(): void {
    for (const running of this.running.values()) this.send(running);
  }

  close(): void {
    clearInterval(this.timer);
    for (const { stream } of this.running.values()) {
      stream.abort(new Error("this node is stopping"));
    }
  }

  private async open(peer: PeerId): Promise<void> {
    if (this.opening.has(peer) || this.running.has(peer)) return;
    this.opening.add(peer);
    try {
      const stream = await this.ports.openStream(peer, AbortSignal.timeout(openMsMax));
      this.start(peer, stream, true);
    } catch (error) {
      this.ports.log.debug("sync.unopened", { peer, error: messageOf(error) });
    } finally {
      this.opening.delete(peer);
    }
  }

  private start(peer: PeerId, stream: ByteStream, isInitiator: boolean): void {
    const { table, clock } = this.ports;
    // A second stream means that the other side lost the first: its state is worth nothing then.
    this.running.get(peer)?.stream.abort(new Error("replaced by a newer sync"));
    const session = new SyncSession({ peer, isInitiator, table });
    const running: Running = { session, stream, isBlocked: false, isWaiting: false };
    this.running.set(peer, running);
    stream.bind({
      data: (chunk) => this.receive(peer, running, chunk),
      drained: () => {
        running.isBlocked = false;
        this.send(running);
      },
      closed: () => {
        if (this.running.get(peer) === running) this.running.delete(peer);
      },
    });
    session.ticked(clock.nowMs());
    this.send(running);
  }

  private receive(peer: PeerId, running: Running, chunk: Uint8Array): void {
    try {
      this.ports.arrived(peer, running.session.received(chunk, this.ports.clock.nowMs()));
      this.send(running);
    } catch (error) {
      this.ports.log.warn("sync.broken", { peer, error: messageOf(error) });
      running.stream.abort(error instanceof Error ? error : new Error(messageOf(error)));
    }
  }

  private send(running: Running): void {
    for (let count = 0; count < messagesPerTurn; count++) {
      if (running.isBlocked) return;
      const message = running.session.poll(this.ports.clock.nowMs());
      if (!message) return;
      if (!running.stream.send(message)) running.isBlocked = true;
    }
    if (running.isWaiting) return;
    running.isWaiting = true;
    setTimeout(() => {
      running.isWaiting = false;
      this.send(running);
    }, 0);
  }

  private tick(): void {
    const nowMs = this.ports.clock.nowMs();
    for (const running of this.running.values()) {
      running.session.ticked(nowMs);
      this.send(running);
    }
    for (const peer of this.connected) {
      if (this.ports.self < peer && !this.running.has(peer)) void this.open(peer);
    }
  }
}
