// What is one simulated node?
import type { PeerId } from "../base/peer_id.ts";
import type { Bytes, Ms } from "../base/units.ts";
import type { Membership } from "../membership/membership.ts";
import type { SimRegistry } from "./sim_registry.ts";

/** One connection; two between the same nodes have different ones. */
export type LinkId = symbol;

/** One process and its host; changed by the world alone. */
export class SimNode {
  /** `undefined` while the process does not run. */
  membership: Membership | undefined;
  registry: SimRegistry | undefined;
  /** Raised by every start: what was meant for an earlier one is lost. */
  run = 0;
  /** As kept beside the key. */
  epoch = 1;
  startedAtMs: Ms = 0;
  endedAtMs: Ms = 0;
  /** Nobody refuses its dials. */
  isHostDead = false;
  /** It has said goodbye. */
  isLeaving = false;
  /** Frozen until then. */
  pausedUntilMs: Ms = -Infinity;
  pausedAtMs: Ms = -Infinity;
  /** What arrived while it was frozen. */
  held: (() => void)[] = [];
  /** Connections, as this side sees them. */
  readonly links = new Map<number, LinkId>();
  readonly dialing = new Set<number>();
  wakeAtMs: Ms = Infinity;
  sentCount = 0;
  sentBytes: Bytes = 0;
  receivedBytes: Bytes = 0;

  constructor(
    readonly index: number,
    readonly peer: PeerId,
    readonly isHead: boolean,
    /** Its clock is ahead by this much. */
    readonly clockOffsetMs: Ms,
  ) {}

  get isUp(): boolean {
    return this.membership !== undefined;
  }

  /** A new process; its parts are made next. */
  begin(nowMs: Ms): void {
    this.run++;
    this.startedAtMs = nowMs;
    this.isHostDead = false;
    this.isLeaving = false;
    this.pausedUntilMs = -Infinity;
    this.held = [];
  }

  /** The process is no more. */
  end(nowMs: Ms, isHostDead: boolean): void {
    this.membership = undefined;
    this.registry = undefined;
    this.run++;
    if (!this.isLeaving) this.endedAtMs = nowMs;
    this.isHostDead = isHostDead;
    this.wakeAtMs = Infinity;
    this.held = [];
  }

  isPaused(nowMs: Ms): boolean {
    return nowMs < this.pausedUntilMs;
  }
}
