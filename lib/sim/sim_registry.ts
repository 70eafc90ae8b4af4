// What does the simulated world need of a registry?
import type { Bytes, Ms } from "../base/units.ts";

/** What a registry wants from the world. Nodes have numbers. */
export type RegistryOutlet = {
  /** Gossips to everybody. */
  readonly publish: (item: object, bytes: Bytes) => void;
  /** To a connected node. */
  readonly send: (to: number, message: unknown, bytes: Bytes) => void;
  /** An owner's claim is new or of a later epoch. */
  readonly changed: (owner: number, epoch: number) => void;
  /** This node's own claim had to take a later epoch. */
  readonly epochRaised: (epoch: number) => void;
};

/** One node's registry: the real one with its syncs, or a model that costs next to nothing. */
export interface SimRegistry {
  /** 16 hexadecimal digits. */
  readonly root: string;
  /** States this node's claim. */
  start(nowMs: Ms): void;
  /** Says something new of itself. */
  change(nowMs: Ms): void;
  linkOpened(to: number, nowMs: Ms): void;
  linkClosed(to: number): void;
  /** @returns Whether it is passed on. */
  gossiped(from: number, item: object, nowMs: Ms): boolean;
  received(from: number, message: unknown, nowMs: Ms): void;
  /** The root of a connected node came with a probe. */
  rootSeen(from: number, root: string, nowMs: Ms): void;
  /** Whether it wants `ticked`. */
  readonly hasTicks: boolean;
  /** About once a second. */
  ticked(nowMs: Ms): void;
  /** The epoch of the claim held of an owner; 0 when there is none. */
  epochOf(owner: number): number;
  /** Owner, epoch and seq of every claim held, as texts, sorted: equal on nodes that agree. */
  table(): string[];
}
