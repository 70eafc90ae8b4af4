// How do a thousand real membership machines live in virtual time?
import type { PeerId } from "../base/peer_id.ts";
import type { Random } from "../base/ports.ts";
import { type Ms, secondMs } from "../base/units.ts";
import type { MemberEffect, MemberEvent } from "../membership/events.ts";
import { Membership } from "../membership/membership.ts";
import { Roster } from "../membership/roster.ts";
import type { Rumour } from "../membership/rumour.ts";
import { GossipMesh } from "./gossip_mesh.ts";
import { Links } from "./links.ts";
import { probeMessageBytes, rumourBytes } from "./message_size.ts";
import { Network, type NetworkFaults } from "./network.ts";
import { type Opinion, Trace } from "./observer.ts";
import { outletOf, type OutletPorts } from "./outlet.ts";
import { peerNumbered } from "./peer_names.ts";
import { seededRandom } from "./seeded_random.ts";
import { SimNode } from "./sim_node.ts";
import type { RegistryOutlet, SimRegistry } from "./sim_registry.ts";
import { Timeline } from "./timeline.ts";

/** Makes the registry of a node that starts; `hasState`: with what it knew when it ended. */
export type MakeRegistry = (
  node: SimNode,
  hasState: boolean,
  outlet: RegistryOutlet,
  nowMs: Ms,
) => SimRegistry;

export type WorldOptions = {
  readonly seed: number;
  readonly nodeCount: number;
  /** Nodes that are connected to everybody. */
  readonly headCount: number;
  readonly network: NetworkFaults;
  /** Clocks differ by up to this. */
  readonly clockSkewMs: Ms;
  readonly makeRegistry: MakeRegistry;
  readonly onOpinion?: (opinion: Opinion) => void;
};

/** Between a goodbye and the end of the process, as in `node_parts.ts`. */
const farewellMs: Ms = 200;
const signature = new Uint8Array(64);

/** Nodes, the network between them, and virtual time. Equal options give equal runs. */
export class World {
  readonly nodes: SimNode[] = [];
  readonly timeline = new Timeline();
  readonly network: Network;
  readonly links: Links;
  readonly random: Random;
  readonly trace = new Trace();
  /** Rumours that changed nothing, by reason. */
  readonly refusals: Record<string, number> = {};
  readonly #roster = new Roster();
  readonly #gossip: GossipMesh;
  readonly #outletPorts: OutletPorts;
  readonly #byPeer = new Map<PeerId, SimNode>();
  #refusalCount = 0;

  constructor(readonly options: WorldOptions) {
    this.random = seededRandom(options.seed);
    this.network = new Network(options.network, seededRandom(options.seed ^ 0x5bd1e995));
    for (let index = 0; index < options.nodeCount; index++) this.#addNode(index);
    const { nodes, timeline, network, random } = this;
    this.links = new Links({
      nodes,
      timeline,
      network,
      tell: (node, event) => this.apply(node, event),
    });
    this.#gossip = new GossipMesh({
      nodes,
      timeline,
      network,
      random,
      judge: (from, node, item) => this.#judge(from, node, item),
    });
    const { links } = this;
    const apply = (node: SimNode, event: MemberEvent) => this.apply(node, event);
    this.#outletPorts = { nodes, timeline, links, gossip: this.#gossip, apply };
    for (const node of nodes) this.start(node, true);
    this.#connectAll();
  }

  get nowMs(): Ms {
    return this.timeline.nowMs;
  }

  /** Lets time pass. */
  runForMs(ms: Ms): void {
    this.timeline.runForMs(ms);
  }

  pickNode(): SimNode {
    return this.nodes[Math.floor(this.random() * this.nodes.length)];
  }

  nodeOf(peer: PeerId): SimNode | undefined {
    return this.#byPeer.get(peer);
  }

  /** A line of the trace. */
  say(text: string): void {
    this.trace.incident({ atMs: this.nowMs, text });
  }

  /** Starts the process of a node. @param hasState With its epoch and its registry, or as on a new disk. */
  start(node: SimNode, hasState: boolean): void {
    if (node.isUp) return;
    if (node.run > 0) node.epoch = hasState ? node.epoch + 1 : 1;
    node.begin(this.nowMs);
    const registry = this.options.makeRegistry(
      node,
      hasState,
      outletOf(node, this.#outletPorts),
      this.nowMs,
    );
    node.registry = registry;
    node.membership = new Membership({
      self: node.peer,
      network: "sim",
      epoch: node.epoch,
      isHead: node.isHead,
      sign: () => signature,
      verify: () => true,
      root: () => registry.root,
      epochOf: (peer) => registry.epochOf(this.nodeOf(peer)?.index ?? -1),
      roster: this.#roster,
      nowMs: this.#localMs(node),
      random: this.random,
    });
    registry.start(this.nowMs);
    if (node.run > 1) this.#join(node);
    if (registry.hasTicks) this.#tickRegistry(node);
  }

  /** Ends the process at once. @param isHostDead Nobody refuses its dials, and its connections end in silence. */
  kill(node: SimNode, isHostDead = false): void {
    if (!node.isUp) return;
    node.end(this.nowMs, isHostDead);
    this.links.drop(node, isHostDead);
  }

  /** It says goodbye, and ends a moment later. */
  leave(node: SimNode, reason: "goodbye" | "drained" = "goodbye"): void {
    node.isLeaving = true;
    node.endedAtMs = this.nowMs;
    this.apply(node, { type: "leaving", reason });
    this.timeline.in(node, farewellMs, () => this.kill(node));
  }

  /** Freezes a process. What arrives meanwhile waits. */
  pause(node: SimNode, ms: Ms): void {
    if (!node.isUp || node.isPaused(this.nowMs)) return;
    this.say(`node ${node.index} freezes for ${ms} ms`);
    node.pausedAtMs = this.nowMs;
    node.pausedUntilMs = this.nowMs + ms;
    this.timeline.at(node.pausedUntilMs, () => this.#thaw(node));
  }

  /** Ends a freeze. */
  resume(node: SimNode): void {
    if (!node.isPaused(this.nowMs)) return;
    node.pausedUntilMs = this.nowMs;
    this.#thaw(node);
  }

  /** Something happens to a node's membership. */
  apply(node: SimNode, event: MemberEvent): void {
    const { membership } = node;
    if (!membership) return;
    const effects = membership.apply(event, { nowMs: this.#localMs(node), random: this.random });
    for (const effect of effects) this.#carryOut(node, effect);
    this.#wakeLater(node);
  }

  #addNode(index: number): void {
    const { headCount, clockSkewMs } = this.options;
    const offsetMs = clockSkewMs * this.random();
    const node = new SimNode(index, peerNumbered(index), index < headCount, offsetMs);
    this.nodes.push(node);
    this.#byPeer.set(node.peer, node);
    this.#roster.add(node.peer);
  }

  #localMs(node: SimNode): Ms {
    return this.nowMs + node.clockOffsetMs;
  }

  /** As the mesh is once it has settled: everybody knows its heads and whom it watches. */
  #connectAll(): void {
    for (const node of this.nodes) {
      if (!node.membership) continue;
      for (const head of this.#heads) this.links.connect(node, head);
      for (const peer of node.membership.watched) this.links.connect(node, this.#byPeer.get(peer)!);
    }
  }

  get #heads(): SimNode[] {
    return this.nodes.slice(0, this.options.headCount);
  }

  /** A node that starts dials its heads until one answers, as bootstrapping does. */
  #join(node: SimNode): void {
    if (node.links.size > 0) return;
    this.timeline.in(node, secondMs, () => this.#join(node));
    for (const head of this.#heads) {
      if (head !== node) this.links.dial(node, head, () => {});
    }
  }

  #tickRegistry(node: SimNode): void {
    this.timeline.in(node, secondMs, () => {
      node.registry?.ticked(this.nowMs);
      this.#tickRegistry(node);
    });
  }

  #thaw(node: SimNode): void {
    if (!node.isUp || node.isPaused(this.nowMs)) return;
    const { held } = node;
    node.held = [];
    for (const run of held) if (node.isUp) run();
    this.apply(node, { type: "ticked" });
  }

  #wakeLater(node: SimNode): void {
    if (!node.membership) return;
    const atMs = Math.max(node.membership.nextAtMs - node.clockOffsetMs, this.nowMs + 1);
    if (atMs >= node.wakeAtMs && node.wakeAtMs > this.nowMs) return;
    node.wakeAtMs = atMs;
    const { run } = node;
    this.timeline.at(atMs, () => {
      if (node.run !== run || node.wakeAtMs !== atMs) return;
      node.wakeAtMs = Infinity;
      if (!node.isPaused(this.nowMs)) this.apply(node, { type: "ticked" });
    });
  }

  #carryOut(node: SimNode, effect: MemberEffect): void {
    switch (effect.type) {
      case "publish":
        return this.#gossip.spread(node, effect.rumour, rumourBytes(effect.rumour) + 2);
      case "outbid":
        node.epoch = effect.epoch;
        return;
      case "count":
        this.#refusalCount++;
        this.refusals[effect.reason] = (this.refusals[effect.reason] ?? 0) + 1;
        return;
    }
    if (!("peer" in effect)) return;
    const other = this.#byPeer.get(effect.peer);
    if (!other) return;
    switch (effect.type) {
      case "send": {
        const { message } = effect;
        return this.links.send(node, other, probeMessageBytes(message), () => {
          this.apply(other, { type: "received", peer: node.peer, message });
        });
      }
      case "dial":
        return this.links.dial(node, other);
      case "changed":
        return this.#changed(node, other, effect);
      case "rootSeen":
        return node.registry?.rootSeen(other.index, effect.root, this.nowMs);
    }
  }

  #changed(
    node: SimNode,
    of: SimNode,
    { before, status: after }: Extract<MemberEffect, { type: "changed" }>,
  ): void {
    const opinion = { atMs: this.nowMs, by: node.index, of: of.index, before, after };
    this.trace.opinion(opinion);
    this.options.onOpinion?.(opinion);
    // A half-dead connection is given up, so that the next one is a new one.
    if (after.status === "left") this.links.hangUp(node, of);
  }

  /** @returns Whether it is passed on. */
  #judge(from: SimNode, node: SimNode, item: object): boolean {
    if (!("kind" in item)) return node.registry?.gossiped(from.index, item, this.nowMs) ?? false;
    const before = this.#refusalCount;
    this.apply(node, { type: "gossiped", rumour: item as Rumour });
    return before === this.#refusalCount;
  }
}
