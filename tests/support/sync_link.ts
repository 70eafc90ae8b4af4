// How do tests connect two registries by a stream that loses messages and breaks?
import { SyncSession } from "../../lib/registry/sync.ts";
import type { RegistryNode } from "./registry_node.ts";

export type SyncLinkOptions = {
  readonly nowMs?: number;
  /** Called for each message with its number, from 1; `true` loses it. */
  readonly isLost?: (count: number) => boolean;
};

/** One connection between two nodes in virtual time; `a` opened it. Throw it away to disconnect. */
export class SyncLink {
  messageCount = 0;
  byteCount = 0;
  longestBytes = 0;
  readonly #ends: { node: RegistryNode; session: SyncSession }[];

  constructor(a: RegistryNode, b: RegistryNode, readonly options: SyncLinkOptions = {}) {
    const toB = new SyncSession({ peer: b.peerId, isInitiator: true, table: a.registry });
    const toA = new SyncSession({ peer: a.peerId, isInitiator: false, table: b.registry });
    this.#ends = [{ node: a, session: toB }, { node: b, session: toA }];
  }

  /** Whether the side that opened the connection has a sync running. */
  get isSyncing(): boolean {
    return this.#ends[0].session.isSyncing;
  }

  /** Delivers until both sides have nothing more to say. @returns Whether anything was said. */
  settle(nowMs: number): boolean {
    let wasSaid = false;
    for (let isQuiet = false; !isQuiet;) {
      isQuiet = true;
      for (const [at, from] of this.#ends.entries()) {
        const to = this.#ends[1 - at];
        for (let bytes = from.session.poll(nowMs); bytes; bytes = from.session.poll(nowMs)) {
          isQuiet = false;
          wasSaid = true;
          this.messageCount++;
          this.byteCount += bytes.byteLength;
          this.longestBytes = Math.max(this.longestBytes, bytes.byteLength);
          if (this.options.isLost?.(this.messageCount)) continue;
          const envelopes = to.session.received(bytes, nowMs);
          to.node.did(to.node.registry.arrived(from.node.peerId, envelopes), nowMs);
          this.#reply(to.node.workOff(nowMs), to.session);
        }
      }
    }
    return wasSaid;
  }

  /** A second passes. @returns Whether anything was said. */
  tick(nowMs: number): boolean {
    for (const { node, session } of this.#ends) {
      node.tick(nowMs);
      session.ticked(nowMs);
    }
    return this.settle(nowMs);
  }

  #reply(effects: ReturnType<RegistryNode["workOff"]>, session: SyncSession): void {
    for (const effect of effects) if (effect.type === "reply") session.show(effect.envelope);
  }
}
