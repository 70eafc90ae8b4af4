// How do probe messages travel between this node and a peer?
import type { ByteStream } from "../base/byte_stream.ts";
import { messageOf } from "../base/errors.ts";
import type { Log } from "../base/ports.ts";
import type { PeerId } from "../base/peer_id.ts";
import { type Bytes, KiB, type Ms, secondMs } from "../base/units.ts";
import { frameProbeMessage, ProbeFrameReader } from "../membership/probe_frames.ts";
import { decodeProbeMessage, type ProbeMessage } from "../membership/probe_message.ts";

/** What the streams work with. */
export type ProbeStreamPorts = {
  readonly log: Log;
  /** Dials when there is no connection. */
  readonly openStream: (peer: PeerId, signal: AbortSignal) => Promise<ByteStream>;
  readonly received: (peer: PeerId, message: ProbeMessage) => void;
};

/** A probe that has waited longer for its stream has been answered by silence. A guess: two probe timeouts. */
const openMsMax: Ms = secondMs;
/** A peer that reads so little is as good as silent: what would come on top is dropped. A guess: 1,000 probes. */
const unsentBytesMax: Bytes = 64 * KiB;
/** Messages that wait for one stream to open. */
const waitingMax = 32;

/** One kept stream per peer, opened with the first message by whoever has one; both sides use it for everything. */
export class ProbeStreams {
  private readonly streams = new Map<PeerId, ByteStream>();
  private readonly waiting = new Map<PeerId, Uint8Array[]>();
  private isClosed = false;

  constructor(private readonly ports: ProbeStreamPorts) {}

  /** Sends when it can; what cannot be sent is lost, as probes are there to notice. */
  send(peer: PeerId, message: ProbeMessage): void {
    if (this.isClosed) return;
    const bytes = frameProbeMessage(message);
    const stream = this.streams.get(peer);
    if (stream) {
      if (stream.unsentBytes <= unsentBytesMax) stream.send(bytes);
      return;
    }
    const waiting = this.waiting.get(peer);
    if (!waiting) {
      this.waiting.set(peer, [bytes]);
      void this.open(peer);
    } else if (waiting.length < waitingMax) waiting.push(bytes);
  }

  /** A peer opened a stream. The newer of two is used to send; both are read. */
  accept(peer: PeerId, stream: ByteStream): void {
    this.bind(peer, stream);
  }

  close(): void {
    this.isClosed = true;
    for (const stream of this.streams.values()) stream.abort(new Error("this node is stopping"));
  }

  private async open(peer: PeerId): Promise<void> {
    try {
      const stream = await this.ports.openStream(peer, AbortSignal.timeout(openMsMax));
      this.bind(peer, stream);
      for (const bytes of this.waiting.get(peer) ?? []) stream.send(bytes);
    } catch (error) {
      this.ports.log.debug("probe.unopened", { peer, error: messageOf(error) });
    } finally {
      this.waiting.delete(peer);
    }
  }

  private bind(peer: PeerId, stream: ByteStream): void {
    const reader = new ProbeFrameReader();
    this.streams.set(peer, stream);
    stream.bind({
      data: (chunk) => this.read(peer, stream, reader, chunk),
      drained: () => {},
      closed: () => {
        if (this.streams.get(peer) === stream) this.streams.delete(peer);
      },
    });
    if (this.isClosed) stream.abort(new Error("this node is stopping"));
  }

  private read(
    peer: PeerId,
    stream: ByteStream,
    reader: ProbeFrameReader,
    chunk: Uint8Array,
  ): void {
    try {
      for (const bytes of reader.take(chunk)) {
        const message = decodeProbeMessage(bytes);
        if (message) this.ports.received(peer, message);
      }
    } catch (error) {
      this.ports.log.warn("probe.broken", { peer, error: messageOf(error) });
      stream.abort(error instanceof Error ? error : new Error(messageOf(error)));
    }
  }
}
