// How does membership live: with connections, dials and time?
import { OtelaError } from "../base/errors.ts";
import type { Clock, Log, Random } from "../base/ports.ts";
import type { PeerId } from "../base/peer_id.ts";
import { type Ms, secondMs } from "../base/units.ts";
import type { Members } from "../membership/members.ts";
import type { ReachabilityEvent } from "../membership/reachability.ts";

/** What the driver works with. */
export type MemberDriverPorts = {
  readonly members: Members;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Addresses to dial; empty when none are known. */
  readonly addressesOf: (peer: PeerId) => readonly string[];
  /** Whether the registry still holds its claim. */
  readonly isClaimed: (peer: PeerId) => boolean;
  readonly connect: (
    peer: PeerId,
    addresses: readonly string[],
    signal: AbortSignal,
  ) => Promise<void>;
  /** Some peer's status is another one now. */
  readonly changed: () => void;
};

/** Waits between dials are seconds. */
const tickMs: Ms = secondMs;
const dialMsMax: Ms = 8 * secondMs;
/** Dials at once; a mesh of a thousand lost peers must not open a thousand sockets. */
const dialsMax = 16;

/** Feeds membership with what the mesh and the registry say, and dials when it asks to. */
export class MemberDriver {
  private readonly queue = new Set<PeerId>();
  /** A controller a dial: signals composed with one that lives as long as the node would pile up there (C054). */
  private readonly dialing = new Map<PeerId, AbortController>();
  private readonly timer: ReturnType<typeof setInterval>;
  private isClosed = false;

  constructor(private readonly ports: MemberDriverPorts) {
    this.timer = setInterval(() => this.tick(), tickMs);
  }

  /** Something happened to one peer. */
  apply(peer: PeerId, event: ReachabilityEvent): void {
    const { members, clock, random, log } = this.ports;
    const before = members.get(peer)?.status;
    const change = members.apply(peer, event, { nowMs: clock.nowMs(), random });
    for (const effect of change.effects) if (effect.type === "redial") this.dial(peer);
    if (!change.isStatusChanged) return;
    const { status, reason } = members.get(peer)!;
    log.info("peer.changed", { peer, status, reason, before: before ?? "unknown" });
    this.ports.changed();
  }

  close(): void {
    this.isClosed = true;
    clearInterval(this.timer);
    for (const abort of this.dialing.values()) abort.abort();
  }

  private tick(): void {
    const { members, clock, isClaimed } = this.ports;
    const nowMs = clock.nowMs();
    for (const [peer, state] of [...members.entries()]) {
      const isGone = state.status !== "alive" && !isClaimed(peer);
      // Without a lease there is nobody to look for; a claim that comes back makes it known again.
      if (isGone && nowMs - state.sinceMs > dialMsMax) members.forget(peer);
      else if (state.redialAtMs !== null) this.apply(peer, { type: "ticked" });
    }
  }

  private dial(peer: PeerId): void {
    if (this.dialing.has(peer)) return;
    this.queue.add(peer);
    this.dialNext();
  }

  private dialNext(): void {
    for (const peer of this.queue) {
      if (this.dialing.size >= dialsMax) return;
      this.queue.delete(peer);
      this.dialOne(peer).finally(() => {
        this.dialing.delete(peer);
        this.dialNext();
      });
    }
  }

  private async dialOne(peer: PeerId): Promise<void> {
    if (this.isClosed) return;
    const abort = new AbortController();
    const timer = setTimeout(() => abort.abort(), dialMsMax);
    this.dialing.set(peer, abort);
    try {
      await this.ports.connect(peer, this.ports.addressesOf(peer), abort.signal);
    } catch (error) {
      if (!this.isClosed) this.apply(peer, { type: failureOf(error) });
    } finally {
      clearTimeout(timer);
    }
  }
}

/** A host that answers that nobody listens says more than one that does not answer. */
function failureOf(error: unknown): "dialRefused" | "dialFailed" {
  const isRefused = error instanceof OtelaError && error.fields.isRefused === true;
  return isRefused ? "dialRefused" : "dialFailed";
}
