// How are simulated nodes connected, and what becomes of what they send?
import { type Bytes, type Ms, secondMs } from "../base/units.ts";
import type { MemberEvent } from "../membership/events.ts";
import { envelopeBytes } from "./message_size.ts";
import type { Network } from "./network.ts";
import type { LinkId, SimNode } from "./sim_node.ts";
import type { Timeline } from "./timeline.ts";

/** What connections need of the world. */
export type LinkPorts = {
  readonly nodes: readonly SimNode[];
  readonly timeline: Timeline;
  readonly network: Network;
  /** Something happened to a node. */
  readonly tell: (node: SimNode, event: MemberEvent) => void;
};

/** A dial that gets no answer ends after this, as in `member_driver.ts`. */
const dialMsMax: Ms = 8 * secondMs;

/** Connections, each known to both of its ends by itself: one can be half dead. */
export class Links {
  constructor(private readonly ports: LinkPorts) {}

  /** Connects two running nodes at once. */
  connect(node: SimNode, other: SimNode): void {
    if (node === other || !node.isUp || !other.isUp) return;
    if (
      node.links.has(other.index) && node.links.get(other.index) === other.links.get(node.index)
    ) return;
    const id: LinkId = Symbol();
    for (const [one, two] of [[node, other], [other, node]] as const) {
      // An end that still holds an older, half dead connection only learns that there is a newer one.
      const isFirst = !one.links.has(two.index);
      one.links.set(two.index, id);
      if (!isFirst) continue;
      this.ports.tell(one, { type: "connected", peer: two.peer });
      one.registry?.linkOpened(two.index, this.ports.timeline.nowMs);
    }
  }

  /** @param then Done with the connection; without it membership has asked, and is told how it went. */
  dial(node: SimNode, other: SimNode, then?: () => void): void {
    const { network, timeline, tell } = this.ports;
    if (node.links.has(other.index)) return then?.();
    // Two kinds of dials to one node may run at once: a real mesh lets them share one.
    const key = then ? -1 - other.index : other.index;
    if (node.dialing.has(key)) return;
    node.dialing.add(key);
    const end = (failure: "dialRefused" | "dialFailed" | undefined) => {
      node.dialing.delete(key);
      if (failure) return then ? undefined : tell(node, { type: failure, peer: other.peer });
      this.connect(node, other);
      then?.();
    };
    const isOpen = () =>
      network.isOpen(node.index, other.index) && network.isOpen(other.index, node.index);
    const tripMs = network.delayMs() + network.delayMs();
    const thawMs = Math.max(0, other.pausedUntilMs - timeline.nowMs);
    if (!isOpen() || other.isHostDead || thawMs >= dialMsMax) {
      return timeline.in(node, dialMsMax, () => end("dialFailed"));
    }
    if (!other.isUp) return timeline.in(node, tripMs, () => end("dialRefused"));
    const { run } = other;
    timeline.in(node, thawMs + 2 * tripMs, () => {
      end(isOpen() && other.run === run ? undefined : "dialFailed");
    });
  }

  /** Sends over a connection, which is made when there is none. */
  send(node: SimNode, other: SimNode, bytes: Bytes, take: () => void): void {
    const { network, timeline } = this.ports;
    const id = node.links.get(other.index);
    if (id === undefined) {
      return this.dial(node, other, () => this.send(node, other, bytes, take));
    }
    node.sentCount++;
    node.sentBytes += bytes + envelopeBytes;
    if (!network.isOpen(node.index, other.index)) return;
    for (let copies: number = network.copies(); copies > 0; copies--) {
      timeline.in(other, network.delayMs(), () => {
        // The other side has given this connection up.
        if (!other.links.has(node.index)) return this.#tellClosed(other, node, id);
        other.receivedBytes += bytes + envelopeBytes;
        take();
      });
    }
  }

  /** One side gives a connection up. */
  hangUp(node: SimNode, other: SimNode): void {
    const id = node.links.get(other.index);
    if (id === undefined) return;
    node.links.delete(other.index);
    const { timeline, tell } = this.ports;
    node.registry?.linkClosed(other.index);
    timeline.in(node, 0, () => tell(node, { type: "disconnected", peer: other.peer }));
    this.#tellClosed(node, other, id);
  }

  /** A process has ended. @param isSilent Nobody is told, as its host ended too. */
  drop(node: SimNode, isSilent: boolean): void {
    const links = [...node.links];
    node.links.clear();
    node.dialing.clear();
    for (const [index, id] of isSilent ? [] : links) {
      this.#tellClosed(node, this.ports.nodes[index], id);
    }
  }

  #tellClosed(node: SimNode, other: SimNode, id: LinkId): void {
    const { network, timeline, tell } = this.ports;
    if (!network.isOpen(node.index, other.index)) return;
    timeline.in(other, network.delayMs(), () => {
      if (other.links.get(node.index) !== id) return;
      other.links.delete(node.index);
      other.registry?.linkClosed(node.index);
      tell(other, { type: "disconnected", peer: node.peer });
    });
  }
}
