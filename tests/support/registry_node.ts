// How do tests drive a registry without threads or a network?
import type { PeerId } from "../../lib/base/peer_id.ts";
import type { Random } from "../../lib/base/ports.ts";
import type { Claim } from "../../lib/registry/claim.ts";
import type { RegistryEffect } from "../../lib/registry/effects.ts";
import { loadClaim } from "../../lib/registry/load_claim.ts";
import type { LoadResult } from "../../lib/registry/peer_claims.ts";
import { Registry, type RegistryOptions } from "../../lib/registry/registry.ts";
import { identityNamed, openPorts } from "./registry_keys.ts";

export type RegistryNodeOptions = {
  readonly name: string;
  readonly epoch?: number;
  readonly run?: string;
  readonly leaseS?: number;
  readonly host?: string;
  readonly startedAtMs?: number;
  readonly random?: Random;
  readonly overrides?: Partial<RegistryOptions>;
  readonly load?: (document: Uint8Array) => LoadResult;
};

/** A registry whose loader is this very thread and whose effects are kept for the test to read. */
export class RegistryNode {
  readonly registry: Registry;
  readonly peerId: PeerId;
  /** Every effect so far, loads left out. */
  readonly effects: RegistryEffect[] = [];
  readonly #load: (document: Uint8Array) => LoadResult;

  constructor(options: RegistryNodeOptions) {
    const identity = identityNamed(options.name);
    this.peerId = identity.peerId;
    this.#load = options.load ?? loadHere;
    this.registry = new Registry({
      own: {
        identity: {
          network: "test",
          owner: identity.peerId,
          publicKey: identity.publicKeyProtobuf,
          run: options.run ?? runNamed(options.name),
          admit: new Uint8Array(0),
          host: options.host ?? `${options.name}.host`,
          sign: identity.sign,
        },
        epoch: options.epoch ?? 1,
        leaseS: options.leaseS ?? 10_800,
        random: options.random ?? (() => 0.5),
        startedAtMs: options.startedAtMs ?? 0,
      },
      ports: openPorts,
      claimsMax: 10_000,
      newOwnersPerMinuteMax: Infinity,
      ...options.overrides,
    });
  }

  /** Carries out loads at once and keeps the other effects. @returns What was kept. */
  did(effects: readonly RegistryEffect[], nowMs: number): RegistryEffect[] {
    const kept: RegistryEffect[] = [];
    for (const effect of effects) {
      if (effect.type !== "loadClaim") {
        kept.push(effect);
        this.effects.push(effect);
        continue;
      }
      const result = this.#load(effect.document);
      kept.push(...this.did(this.registry.claimLoaded(effect.head, result, nowMs), nowMs));
    }
    return kept;
  }

  set(claim: Claim, nowMs = 0): RegistryEffect[] {
    return this.did(this.registry.claimSet(claim, nowMs), nowMs);
  }

  receive(bytes: Uint8Array, nowMs = 0, from: PeerId = strangerId): RegistryEffect[] {
    return this.did(this.registry.envelopeReceived(from, bytes, nowMs).effects, nowMs);
  }

  tick(nowMs: number): RegistryEffect[] {
    return this.did(this.registry.ticked(nowMs), nowMs);
  }

  /** Works off everything that has arrived. */
  workOff(nowMs: number): RegistryEffect[] {
    const kept: RegistryEffect[] = [];
    while (this.registry.hasWork) kept.push(...this.did(this.registry.work(nowMs, 16), nowMs));
    return kept;
  }

  /** Owners, epochs and seqs, sorted: what must be equal on all nodes. */
  get table(): string[] {
    return [...this.registry.entries.values()]
      .map(({ owner, epoch, seq, hash }) => `${owner} ${epoch}.${seq} ${hash.slice(0, 8)}`).sort();
  }
}

/** Who hands on what others have signed. */
export const strangerId = identityNamed("a stranger").peerId;

/** 16 bytes of a name, hexadecimal. */
export function runNamed(name: string): string {
  return Array.from({ length: 16 }, (_, at) => (name.charCodeAt(at % name.length) + at) & 0xff)
    .map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The envelopes that effects ask to publish. */
export function published(effects: readonly RegistryEffect[]): Uint8Array[] {
  return effects.flatMap((effect) => effect.type === "publish" ? [effect.envelope] : []);
}

/** The reasons that effects count. */
export function counted(effects: readonly RegistryEffect[]): string[] {
  return effects.flatMap((effect) => effect.type === "count" ? [effect.reason] : []);
}

function loadHere(document: Uint8Array): LoadResult {
  try {
    return { type: "loaded", loaded: loadClaim(document) };
  } catch {
    return { type: "refused", reason: "bad_claim" };
  }
}

/** A claim of a worker with one service; what tests do not name is plausible. */
export function claimOf(changes: Partial<Claim> = {}): Claim {
  return {
    role: "worker",
    addresses: ["/ip4/10.0.0.1/tcp/4001"],
    relays: [],
    services: [{
      name: "llm",
      identityGroups: ["model=Qwen3-8B", "model=*"],
      state: "ready",
      engine: { kind: "vllm", version: "0.11.2", continues: true },
      capacity: 64,
      retry: "safe",
    }],
    hardware: {
      cpuCount: 64,
      memoryMiB: 512_000,
      gpus: [{ name: "NVIDIA GH200", memoryTotalMiB: 97_871, memoryUsedMiB: 5 }],
    },
    labels: { cluster: "alps" },
    wallet: "",
    versions: { otela: "0.1.0" },
    ...changes,
  };
}
