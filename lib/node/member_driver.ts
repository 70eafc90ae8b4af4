// How does membership live: with connections, streams, gossip, dials and time?
import { messageOf } from "../base/errors.ts";
import type { ByteStream } from "../base/byte_stream.ts";
import type { Clock, Log, Random } from "../base/ports.ts";
import type { PeerId } from "../base/peer_id.ts";
import type { Ms } from "../base/units.ts";
import type { MemberEffect, MemberEvent } from "../membership/events.ts";
import type { Membership } from "../membership/membership.ts";
import { decodeRumour, encodeRumour } from "../membership/rumour.ts";
import { PeerDials } from "./peer_dials.ts";
import { ProbeStreams } from "./probe_streams.ts";

/** What the driver works with. */
export type MemberDriverPorts = {
  readonly members: Membership;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly connect: (peer: PeerId, signal: AbortSignal) => Promise<void>;
  readonly openStream: (peer: PeerId, signal: AbortSignal) => Promise<ByteStream>;
  /** Closes every connection to a peer. */
  readonly hangUp: (peer: PeerId) => void;
  readonly publish: (bytes: Uint8Array) => void;
  /** The registry's root of a peer, for its sync. */
  readonly rootSeen: (peer: PeerId, root: string) => void;
  /** Somebody holds a goodbye of our own of that epoch. */
  readonly epochSeen: (epoch: number) => void;
  /** Some peer's status is another one now. */
  readonly changed: () => void;
};

/** What becomes of a gossip message; `undefined` when it is no rumour. */
export type RumourVerdict = "accept" | "ignore" | "reject" | undefined;

/** Bytes of a busy lane count once in this time. A guess: a fifth of a probe's timeout. */
const heardEveryMs: Ms = 100;

/** Feeds membership with what the node hears, and carries out its effects. */
export class MemberDriver {
  /** Rumours that changed nothing, by reason. */
  readonly refusals: Record<string, number> = {};
  private readonly streams: ProbeStreams;
  private readonly dials: PeerDials;
  private readonly noticedAtMs = new Map<string, Ms>();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private timerAtMs: Ms = Infinity;
  private isClosed = false;

  constructor(private readonly ports: MemberDriverPorts) {
    const { log, openStream, connect } = ports;
    this.streams = new ProbeStreams({
      log,
      openStream,
      received: (peer, message) => this.apply({ type: "received", peer, message }),
    });
    this.dials = new PeerDials({ connect, failed: (peer, type) => this.apply({ type, peer }) });
    this.wakeLater();
  }

  /** Something happened. */
  apply(event: MemberEvent): readonly MemberEffect[] {
    if (this.isClosed) return [];
    const { members, clock, random } = this.ports;
    const effects = members.apply(event, { nowMs: clock.nowMs(), random });
    for (const effect of effects) this.carryOut(effect);
    this.wakeLater();
    return effects;
  }

  /** Bytes of another protocol came from a peer, or went to it: cheap enough for every chunk. */
  noticed(peer: PeerId, type: "heard" | "exchanged"): void {
    const key = `${type} ${peer}`;
    const nowMs = this.ports.clock.nowMs();
    if (nowMs - (this.noticedAtMs.get(key) ?? -Infinity) < heardEveryMs) return;
    this.noticedAtMs.set(key, nowMs);
    this.apply({ type, peer });
  }

  /** The last connection of a peer closed. */
  disconnected(peer: PeerId): void {
    this.noticedAtMs.delete(`heard ${peer}`);
    this.noticedAtMs.delete(`exchanged ${peer}`);
    this.apply({ type: "disconnected", peer });
  }

  /** A peer opened a stream of ours. */
  accept(peer: PeerId, stream: ByteStream): void {
    this.streams.accept(peer, stream);
  }

  /** Gossip's validator. */
  gossiped(bytes: Uint8Array): RumourVerdict {
    try {
      const rumour = decodeRumour(bytes);
      if (!rumour) return undefined;
      const refusal = this.apply({ type: "gossiped", rumour }).find(({ type }) => type === "count");
      if (refusal?.type !== "count") return "accept";
      return refusal.reason === "forged" ? "reject" : "ignore";
    } catch (error) {
      this.count("malformed");
      this.ports.log.debug("rumour.malformed", { error: messageOf(error) });
      return "reject";
    }
  }

  /** Says goodbye to everybody. */
  leave(reason: "goodbye" | "drained"): void {
    this.apply({ type: "leaving", reason });
  }

  close(): void {
    this.isClosed = true;
    clearTimeout(this.timer);
    this.dials.close();
    this.streams.close();
  }

  private wakeLater(): void {
    const { members, clock } = this.ports;
    const nowMs = clock.nowMs();
    if (this.timerAtMs <= members.nextAtMs && this.timerAtMs > nowMs) return;
    clearTimeout(this.timer);
    this.timerAtMs = Math.max(members.nextAtMs, nowMs);
    this.timer = setTimeout(() => {
      this.timerAtMs = -Infinity;
      this.apply({ type: "ticked" });
    }, this.timerAtMs - nowMs);
  }

  private carryOut(effect: MemberEffect): void {
    const { log } = this.ports;
    switch (effect.type) {
      case "send":
        return this.streams.send(effect.peer, effect.message);
      case "dial":
        return this.dials.dial(effect.peer);
      case "publish":
        return this.ports.publish(encodeRumour(effect.rumour));
      case "changed":
        return this.statusChanged(effect);
      case "synced":
        return this.ports.changed();
      case "rootSeen":
        return this.ports.rootSeen(effect.peer, effect.root);
      case "refuted":
        log.warn("member.accused", {
          incarnation: `${effect.incarnation.epoch}.${effect.incarnation.counter}`,
        });
        return;
      case "outbid":
        // The claim takes the epoch itself, one above the one that was seen.
        return this.ports.epochSeen(effect.epoch - 1);
      case "count":
        return this.count(effect.reason);
    }
  }

  private statusChanged(
    { peer, status, before }: Extract<MemberEffect, { type: "changed" }>,
  ): void {
    if (status.status !== before.status) {
      const { log } = this.ports;
      log.info("peer.changed", {
        peer,
        status: status.status,
        reason: status.reason,
        before: before.status,
      });
    }
    // A connection to a frozen peer is half dead: once it thaws, or the path heals, a new one is made.
    if (status.status === "left" && status.reason === "failed") this.ports.hangUp(peer);
    this.ports.changed();
  }

  private count(reason: string): void {
    this.refusals[reason] = (this.refusals[reason] ?? 0) + 1;
  }
}
