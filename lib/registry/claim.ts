// What does a node say of itself?

/** What a node is for. Any node can dispatch; the role says what others should expect of it. */
export type Role = "head" | "worker" | "relay";

/** The inference engine behind a service, as far as it could be detected. */
export type EngineClaim = {
  /** `vllm`, `sglang`, `llama.cpp`, `tgi`, `ollama`, … or `unknown`. */
  readonly kind: string;
  readonly version: string;
  /** Whether it can go on with a half-written answer (`continue_final_message`). */
  readonly continues: boolean;
};

/**
 * One HTTP backend that a worker offers now. Withdrawn services are absent, not flagged.
 *
 * @example Which models does it offer?
 * ```ts
 * import { deepEqual } from "node:assert/strict";
 * import type { ServiceClaim } from "@otela/otela";
 *
 * const models = ({ identityGroups }: Pick<ServiceClaim, "identityGroups">) =>
 *   identityGroups.flatMap((group) => group.startsWith("model=") ? [group.slice(6)] : []);
 * deepEqual(models({ identityGroups: ["model=m", "all"] }), ["m"]);
 * ```
 */
export type ServiceClaim = {
  /** `^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$`. */
  readonly name: string;
  /** `model=Qwen3-8B`, `model=*`, `all`; at most 256. */
  readonly identityGroups: readonly string[];
  /** `ready`, or `draining`: finishes what it has and takes nothing new. */
  readonly state: "ready" | "draining";
  readonly engine: EngineClaim;
  /** Exchanges it can run at once; 0 when unknown. */
  readonly capacity: number;
  /** Whether a request that the engine may have seen can be repeated elsewhere. */
  readonly retry: "safe" | "never";
};

export type GpuClaim = {
  readonly name: string;
  /** MiB; `null` when the tool does not say. */
  readonly memoryTotalMiB: number | null;
  readonly memoryUsedMiB: number | null;
};

export type HardwareClaim = {
  readonly cpuCount: number;
  readonly memoryMiB: number;
  readonly gpus: readonly GpuClaim[];
};

/**
 * Unproven facts that change rarely. Never heartbeats, load or latency.
 *
 * @example How much memory do its GPUs have?
 * ```ts
 * import { equal } from "node:assert/strict";
 * import type { Claim } from "@otela/otela";
 *
 * const gpuMiB = ({ hardware }: Pick<Claim, "hardware">) =>
 *   hardware.gpus.reduce((sum, { memoryTotalMiB }) => sum + (memoryTotalMiB ?? 0), 0);
 * const gpu = { name: "A100", memoryTotalMiB: 81_920, memoryUsedMiB: null };
 * equal(gpuMiB({ hardware: { cpuCount: 8, memoryMiB: 65_536, gpus: [gpu, gpu] } }), 163_840);
 * ```
 */
export type Claim = {
  readonly role: Role;
  /** Multiaddrs without `/p2p/…`, at most 32. */
  readonly addresses: readonly string[];
  /** PeerIds of relays on which this node holds a reservation. */
  readonly relays: readonly string[];
  readonly services: readonly ServiceClaim[];
  readonly hardware: HardwareClaim;
  /** At most 64, keys and values at most 256 characters. */
  readonly labels: Readonly<Record<string, string>>;
  /** Public key of the owner's wallet; empty when none. */
  readonly wallet: string;
  readonly versions: Readonly<Record<string, string>>;
};
