// How does the registry live: with time, a loader thread, gossip and a file?
import { messageOf } from "../base/errors.ts";
import type { Clock, Log } from "../base/ports.ts";
import type { PeerId } from "../base/peer_id.ts";
import { type Ms, secondMs } from "../base/units.ts";
import type { Claim } from "../registry/claim.ts";
import type { DuplicateHosts, RegistryEffect } from "../registry/effects.ts";
import type { LoadResult } from "../registry/peer_claims.ts";
import type { Registry } from "../registry/registry.ts";
import type { Snapshot } from "../registry/snapshot.ts";

/** Loads documents of others, away from this thread (port; `claim_loader.ts`). */
export interface ClaimLoading {
  load(document: Uint8Array): Promise<LoadResult>;
}

/** What the driver works with. */
export type RegistryDriverPorts = {
  readonly registry: Registry;
  readonly clock: Clock;
  readonly log: Log;
  readonly loader: ClaimLoading;
  /** Spreads an envelope to everybody. */
  readonly publish: (envelope: Uint8Array) => void;
  /** Shows an envelope to one peer. */
  readonly show: (peer: PeerId, envelope: Uint8Array) => void;
  /** Keeps our epoch durably; envelopes with it wait until then. */
  readonly storeEpoch: (epoch: number) => Promise<void>;
  readonly changed: (owner: PeerId) => void;
  readonly removed: (owner: PeerId) => void;
  readonly duplicate: (hosts: DuplicateHosts, mustYield: boolean) => void;
  /** The registry has worked: syncs may go on. */
  readonly worked: () => void;
};

/** Leases and renewals are minutes; a second is exact enough. */
const tickMs: Ms = secondMs;
/** About 2 ms of work (`Registry.work`); then requests have their turn. */
const envelopesPerSlice = 16;

/** Feeds a registry with events and carries out its effects, in order. */
export class RegistryDriver {
  readonly refusals: Record<string, number> = {};
  private readonly timer: ReturnType<typeof setInterval>;
  private isWorking = false;
  private isClosed = false;
  /** Effects that must wait for an epoch to be stored. */
  private epochStored: Promise<void> | undefined;

  constructor(private readonly ports: RegistryDriverPorts) {
    this.timer = setInterval(() => this.run(this.registry.ticked(this.nowMs)), tickMs);
  }

  get registry(): Registry {
    return this.ports.registry;
  }

  claimSet(claim: Claim): void {
    this.run(this.registry.claimSet(claim, this.nowMs));
  }

  /** Membership met a goodbye of that epoch of our own. */
  epochSeen(epoch: number): void {
    this.run(this.registry.epochSeen(epoch, this.nowMs));
  }

  withdraw(): void {
    this.run(this.registry.withdrawn(this.nowMs));
  }

  /** Gossip's validator. */
  gossiped(from: PeerId, envelope: Uint8Array): "accept" | "ignore" | "reject" {
    const { verdict, effects } = this.registry.envelopeReceived(from, envelope, this.nowMs);
    this.run(effects);
    return verdict;
  }

  /** A sync brought envelopes. */
  arrived(from: PeerId, envelopes: readonly Uint8Array[]): void {
    if (envelopes.length === 0) return;
    this.run(this.registry.arrived(from, envelopes));
    this.work();
  }

  restore(snapshot: Snapshot): void {
    this.run(this.registry.restored(snapshot, this.nowMs));
    this.work();
  }

  close(): void {
    this.isClosed = true;
    clearInterval(this.timer);
  }

  private get nowMs(): Ms {
    return this.ports.clock.nowMs();
  }

  /** Looks at what waits, a slice a turn, so that streams are not disturbed. */
  private work(): void {
    if (this.isWorking || this.isClosed) return;
    this.isWorking = true;
    setTimeout(() => {
      this.isWorking = false;
      if (this.isClosed) return;
      this.run(this.registry.work(this.nowMs, envelopesPerSlice));
      if (this.registry.hasWork) this.work();
      this.ports.worked();
    }, 0);
  }

  private run(effects: readonly RegistryEffect[]): void {
    for (const effect of effects) {
      if (this.epochStored) this.epochStored.then(() => this.runOne(effect));
      else this.runOne(effect);
    }
  }

  private runOne(effect: RegistryEffect): void {
    const { ports } = this;
    switch (effect.type) {
      case "storeEpoch":
        return this.storeEpoch(effect.epoch);
      case "publish":
        return ports.publish(effect.envelope);
      case "reply":
        return ports.show(effect.peer, effect.envelope);
      case "loadClaim":
        return this.load(effect);
      case "announceChanged":
        return ports.changed(effect.owner);
      case "announceRemoved":
        return ports.removed(effect.owner);
      case "count":
        this.refusals[effect.reason] = (this.refusals[effect.reason] ?? 0) + 1;
        return;
      case "reportDuplicate":
        ports.log.error("identity.duplicate", { ...effect.hosts });
        return ports.duplicate(effect.hosts, false);
      case "yieldIdentity":
        return ports.duplicate(effect.hosts, true);
      case "reportClaimRefused":
        return ports.log.error("claim.refused", { message: effect.message });
    }
  }

  private storeEpoch(epoch: number): void {
    const stored: Promise<void> = this.ports.storeEpoch(epoch).catch((error) => {
      // The epoch is used anyway: peers return a higher one at the next start, and it is outbid then.
      this.ports.log.error("epoch.unsaved", { epoch, error: messageOf(error) });
    }).finally(() => {
      if (this.epochStored === stored) this.epochStored = undefined;
    });
    this.epochStored = stored;
  }

  private load({ head, document }: Extract<RegistryEffect, { type: "loadClaim" }>): void {
    this.ports.loader.load(document).then((result) => {
      if (this.isClosed) return;
      this.run(this.registry.claimLoaded(head, result, this.nowMs));
      this.ports.worked();
    });
  }
}
