// How does a peer look in the reference's table?
import { type Ms, secondMs } from "../base/units.ts";
import type { HardwareClaim } from "../registry/claim.ts";
import type { TableEntry } from "./ports.ts";

/** What a record is made with. */
export type RecordOptions = {
  /** Monotonic, local; the times of entries are on the same clock. */
  readonly nowMs: Ms;
  /** The same moment since the Unix epoch. */
  readonly wallMs: Ms;
  /** Leaves out addresses, wallets and hardware. */
  readonly isRedacted: boolean;
};

const unknownHardware = {
  gpus: null,
  host_memory: 0,
  host_memory_bandwidth: 0,
  host_memory_used: 0,
};

function hardwareRecord({ gpus, memoryMiB }: HardwareClaim): Record<string, unknown> {
  return {
    ...unknownHardware,
    gpus: gpus.map((gpu) => ({
      name: gpu.name,
      total_memory: gpu.memoryTotalMiB ?? 0,
      used_memory: gpu.memoryUsedMiB ?? 0,
    })),
    host_memory: memoryMiB,
  };
}

/** The first address that others can dial, in the reference's two fields. */
function publicAddress(addresses: readonly string[]): Record<string, string> {
  const match = addresses.map((address) =>
    /^\/(?:ip[46]|dns[46]?)\/([^/]+)\/tcp\/(\d+)/.exec(address)
  )
    .find((found) => found !== null);
  return match ? { public_address: match[1], public_port: match[2] } : { public_address: "" };
}

/**
 * One peer with the reference's field names and meanings (those it never sets are left out), so that its
 * dashboards and scripts keep working. Ours beside them: `status` also says `alive` and `suspect`,
 * `reason`, `since` and `seen_by` say why, from when (Unix seconds) and by whom; nobody is named where the whole mesh
 * agrees.
 */
export function peerRecord(entry: TableEntry, options: RecordOptions): Record<string, unknown> {
  const { claim, status, connectedness } = entry;
  const unixS = (atMs: Ms) => Math.floor((options.wallMs - (options.nowMs - atMs)) / secondMs);
  const counts: Record<string, number> = {};
  for (const { name } of claim.services) counts[name] = (counts[name] ?? 0) + 1;
  return {
    id: entry.peer,
    role: [claim.role],
    status: status.status,
    reason: status.reason,
    since: unixS(status.sinceMs),
    seen_by: entry.seenBy,
    connected: status.status !== "left",
    connectedness,
    last_seen: unixS(entry.heardAtMs ?? status.sinceMs),
    version: claim.versions["otela"] ?? "",
    service: claim.services.map((service) => ({
      name: service.name,
      hardware: unknownHardware,
      status: service.state === "ready" ? "connected" : service.state,
      host: "localhost",
      port: "0",
      identity_group: service.identityGroups,
      engine: service.engine,
      capacity: service.capacity,
    })),
    service_name_counts: counts,
    ...(claim.relays.length > 0 ? { relay_peer: claim.relays[0] } : {}),
    ...(options.isRedacted ? { owner: "", public_address: "", hardware: unknownHardware } : {
      owner: claim.wallet,
      ...publicAddress(claim.addresses),
      addresses: claim.addresses,
      hardware: hardwareRecord(claim.hardware),
      labels: claim.labels,
    }),
  };
}
