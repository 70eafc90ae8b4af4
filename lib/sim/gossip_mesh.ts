// How does a rumour or a claim reach everybody?
import type { Random } from "../base/ports.ts";
import { type Bytes, type Ms, secondMs } from "../base/units.ts";
import { envelopeBytes } from "./message_size.ts";
import type { Network } from "./network.ts";
import type { SimNode } from "./sim_node.ts";
import type { Timeline } from "./timeline.ts";

/** Neighbours that each node chooses; with those that chose it about 6, as gossipsub's D. */
const neighboursChosen = 3;

/** What the flood needs of the world. */
export type GossipPorts = {
  readonly nodes: readonly SimNode[];
  readonly network: Network;
  readonly random: Random;
  readonly timeline: Timeline;
  /** A node looks at something new to it. @returns Whether it is passed on. */
  readonly judge: (from: SimNode, node: SimNode, item: object) => boolean;
};

/** One item on its way. */
type Flood = {
  readonly item: object;
  readonly bytes: Bytes;
  readonly startedAtMs: Ms;
  /** When the first copy reaches a node, as far as it is under way; `Infinity`: none is. */
  readonly arrivesAtMs: Float64Array;
  /** 1 for nodes that have seen it. */
  readonly seen: Uint8Array;
};

/** Copies that are still under way after so long are new to their receivers again. */
const floodKeptMs: Ms = 60 * secondMs;

/** A flood over a random graph; copies that would come too late to matter are counted, not delivered. */
export class GossipMesh {
  readonly #neighbours: number[][];
  readonly #floods = new Map<object, Flood>();
  readonly #ports: GossipPorts;

  constructor(ports: GossipPorts) {
    this.#ports = ports;
    const { nodes, random } = ports;
    this.#neighbours = nodes.map(() => []);
    for (const { index } of nodes) {
      for (let count = 0; count < Math.min(neighboursChosen, nodes.length - 1);) {
        const other = Math.floor(random() * nodes.length);
        if (other === index) continue;
        count++;
        this.#neighbours[index].push(other);
        this.#neighbours[other].push(index);
      }
    }
  }

  /** A node has something for everybody. */
  spread(node: SimNode, item: object, bytes: Bytes): void {
    const flood = this.#floodOf(item, bytes);
    flood.seen[node.index] = 1;
    this.#passOn(node, flood);
  }

  #floodOf(item: object, bytes: Bytes): Flood {
    const known = this.#floods.get(item);
    if (known) return known;
    const { nowMs } = this.#ports.timeline;
    for (const [key, { startedAtMs }] of this.#floods) {
      if (nowMs - startedAtMs < floodKeptMs) break;
      this.#floods.delete(key);
    }
    const count = this.#ports.nodes.length;
    const arrivesAtMs = new Float64Array(count).fill(Infinity);
    const flood = { item, bytes, startedAtMs: nowMs, arrivesAtMs, seen: new Uint8Array(count) };
    this.#floods.set(item, flood);
    return flood;
  }

  #passOn(node: SimNode, flood: Flood): void {
    const { nodes, network, random, timeline } = this.#ports;
    const bytes = flood.bytes + envelopeBytes;
    for (const index of this.#neighbours[node.index]) {
      let other = nodes[index];
      // Gossipsub grafts another when a neighbour is gone.
      if (!other.isUp) other = nodes[Math.floor(random() * nodes.length)];
      if (other === node || !other.isUp || !network.isOpen(node.index, other.index)) continue;
      node.sentCount++;
      node.sentBytes += bytes;
      if (network.copies() === 0) continue;
      other.receivedBytes += bytes;
      const delayMs = network.delayMs();
      const atMs = timeline.nowMs + delayMs;
      if (flood.seen[other.index] || flood.arrivesAtMs[other.index] <= atMs) continue;
      flood.arrivesAtMs[other.index] = atMs;
      timeline.in(other, delayMs, () => this.#arrived(node, other, flood));
    }
  }

  #arrived(from: SimNode, node: SimNode, flood: Flood): void {
    if (flood.seen[node.index]) return;
    flood.seen[node.index] = 1;
    if (this.#ports.judge(from, node, flood.item)) this.#passOn(node, flood);
  }
}
