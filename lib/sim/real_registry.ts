// How does the real registry live in a simulated world?
import type { PeerId } from "../base/peer_id.ts";
import type { Random } from "../base/ports.ts";
import type { Ms } from "../base/units.ts";
import type { Claim } from "../registry/claim.ts";
import type { RegistryEffect } from "../registry/effects.ts";
import { loadClaim } from "../registry/load_claim.ts";
import type { LoadResult } from "../registry/peer_claims.ts";
import { Registry } from "../registry/registry.ts";
import { SyncSession } from "../registry/sync.ts";
import { peerNumbered } from "./peer_names.ts";
import type { SimNode } from "./sim_node.ts";
import type { RegistryOutlet, SimRegistry } from "./sim_registry.ts";

/** As on a node: `registry_driver.ts`. */
const envelopesPerSlice = 16;
const leaseS = 10_800;
const signature = new Uint8Array(64);
/** More than any world with real registries has. */
const claimsMax = 10_000;

/** What all registries of one world share. */
export type RealRegistryWorld = {
  readonly indexOf: (peer: PeerId) => number;
  readonly random: Random;
  /** Documents loaded so far, by hash: the loader stands outside of nodes, and loads the same bytes alike. */
  readonly loaded: Map<string, LoadResult>;
};

/** A gossiped envelope. */
export class GossipedEnvelope {
  constructor(readonly bytes: Uint8Array) {}
}

/** The registry of a node with its syncs. Signatures are not checked, as nobody forges here; all else is real. */
export class RealRegistry implements SimRegistry {
  readonly hasTicks = true;
  readonly #registry: Registry;
  readonly #sessions = new Map<number, SyncSession>();
  #changeCount = 0;

  /** @param former The registry of the run before, when its state was kept. */
  constructor(
    private readonly node: SimNode,
    former: RealRegistry | undefined,
    private readonly world: RealRegistryWorld,
    private readonly outlet: RegistryOutlet,
    nowMs: Ms,
  ) {
    this.#registry = new Registry({
      own: {
        identity: {
          network: "sim",
          owner: node.peer,
          publicKey: keyOf(node.index),
          run: runOf(node),
          admit: new Uint8Array(0),
          host: `host${node.index}`,
          sign: () => signature,
        },
        epoch: node.epoch,
        leaseS,
        random: world.random,
        startedAtMs: this.#local(nowMs),
      },
      ports: {
        deriveOwner: (key) => peerNumbered(new DataView(key.buffer, key.byteOffset).getUint32(0)),
        verify: () => true,
        isAdmitted: () => true,
        isDenied: () => false,
      },
      claimsMax,
      newOwnersPerMinuteMax: Infinity,
    });
    if (former) {
      const snapshot = former.#registry.snapshot(this.#local(nowMs));
      this.#did(this.#registry.restored(snapshot, this.#local(nowMs)), nowMs);
      this.#work(nowMs);
    }
  }

  get root(): string {
    return this.#registry.root;
  }

  start(nowMs: Ms): void {
    this.#did(
      this.#registry.claimSet(claimOf(this.node, this.#changeCount), this.#local(nowMs)),
      nowMs,
    );
  }

  change(nowMs: Ms): void {
    this.#changeCount++;
    this.start(nowMs);
  }

  linkOpened(to: number, nowMs: Ms): void {
    const peer = peerNumbered(to);
    this.#registry.connectionOpened(peer);
    const isInitiator = this.node.peer < peer;
    this.#sessions.set(to, new SyncSession({ peer, isInitiator, table: this.#registry }));
    this.#poll(to, nowMs);
  }

  linkClosed(to: number): void {
    this.#registry.connectionClosed(peerNumbered(to));
    this.#sessions.delete(to);
  }

  gossiped(from: number, item: object, nowMs: Ms): boolean {
    if (!(item instanceof GossipedEnvelope)) return false;
    const peer = peerNumbered(from);
    const { verdict, effects } = this.#registry.envelopeReceived(
      peer,
      item.bytes,
      this.#local(nowMs),
    );
    this.#did(effects, nowMs);
    return verdict === "accept";
  }

  received(from: number, message: unknown, nowMs: Ms): void {
    const session = this.#sessions.get(from);
    if (!session || !(message instanceof Uint8Array)) return;
    const envelopes = session.received(message, this.#local(nowMs));
    this.#did(this.#registry.arrived(peerNumbered(from), envelopes), nowMs);
    this.#work(nowMs);
    for (const to of this.#sessions.keys()) this.#poll(to, nowMs);
  }

  rootSeen(from: number, root: string, nowMs: Ms): void {
    this.#sessions.get(from)?.peerRootSeen(root, this.#local(nowMs));
    this.#poll(from, nowMs);
  }

  ticked(nowMs: Ms): void {
    this.#did(this.#registry.ticked(this.#local(nowMs)), nowMs);
    for (const [to, session] of this.#sessions) {
      session.ticked(this.#local(nowMs));
      this.#poll(to, nowMs);
    }
  }

  epochOf(owner: number): number {
    return this.#registry.entries.get(peerNumbered(owner))?.epoch ?? 0;
  }

  table(): string[] {
    return [...this.#registry.entries.values()]
      .map(({ owner, epoch, seq }) => `${this.world.indexOf(owner)} ${epoch}.${seq}`).sort();
  }

  #local(nowMs: Ms): Ms {
    return nowMs + this.node.clockOffsetMs;
  }

  #work(nowMs: Ms): void {
    while (this.#registry.hasWork) {
      this.#did(this.#registry.work(this.#local(nowMs), envelopesPerSlice), nowMs);
    }
  }

  #poll(to: number, nowMs: Ms): void {
    const session = this.#sessions.get(to);
    if (!session) return;
    for (
      let bytes = session.poll(this.#local(nowMs));
      bytes;
      bytes = session.poll(this.#local(nowMs))
    ) {
      this.outlet.send(to, bytes, bytes.byteLength);
    }
  }

  #did(effects: readonly RegistryEffect[], nowMs: Ms): void {
    for (const effect of effects) this.#carryOut(effect, nowMs);
  }

  #carryOut(effect: RegistryEffect, nowMs: Ms): void {
    switch (effect.type) {
      case "publish":
        return this.outlet.publish(
          new GossipedEnvelope(effect.envelope),
          effect.envelope.byteLength,
        );
      case "storeEpoch":
        return this.outlet.epochRaised(effect.epoch);
      case "reply": {
        const to = this.world.indexOf(effect.peer);
        this.#sessions.get(to)?.show(effect.envelope);
        return this.#poll(to, nowMs);
      }
      case "loadClaim": {
        const result = this.#load(effect.head.hash, effect.document);
        return this.#did(
          this.#registry.claimLoaded(effect.head, result, this.#local(nowMs)),
          nowMs,
        );
      }
      case "announceChanged": {
        const epoch = this.#registry.entries.get(effect.owner)?.epoch ?? 0;
        if (effect.owner !== this.node.peer) {
          this.outlet.changed(this.world.indexOf(effect.owner), epoch);
        }
        return;
      }
    }
  }

  #load(hash: string, document: Uint8Array): LoadResult {
    const known = this.world.loaded.get(hash);
    if (known) return known;
    const result: LoadResult = { type: "loaded", loaded: loadClaim(document) };
    this.world.loaded.set(hash, result);
    return result;
  }
}

/** Nobody signs with it; it only names its owner. */
function keyOf(index: number): Uint8Array {
  const key = new Uint8Array(36);
  new DataView(key.buffer).setUint32(0, index);
  return key;
}

/** 16 bytes, hexadecimal, another for each process. */
function runOf({ index, run }: SimNode): string {
  return (index * 4_096 + run).toString(16).padStart(32, "0");
}

function claimOf({ index, isHead }: SimNode, changeCount: number): Claim {
  return {
    role: isHead ? "head" : "worker",
    addresses: [`/ip4/10.${index >> 16}.${(index >> 8) & 255}.${index & 255}/tcp/43905`],
    relays: [],
    services: isHead ? [] : [{
      name: "llm",
      identityGroups: ["model=Qwen3-8B", `model=lora-${changeCount}`],
      state: "ready",
      engine: { kind: "vllm", version: "0.11.2", continues: true },
      capacity: 64,
      retry: "safe",
    }],
    hardware: { cpuCount: 64, memoryMiB: 512_000, gpus: [] },
    labels: {},
    wallet: "",
    versions: { otela: "0.1.0" },
  };
}
