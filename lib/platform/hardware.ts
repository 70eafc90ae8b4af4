// What does this node claim of its hardware?
import type { GpuClaim, HardwareClaim } from "../registry/claim.ts";
import { claimBounds } from "../registry/decode_claim.ts";
import type { MachineFacts } from "./machine.ts";
import type { GpuReport } from "./nvidia_smi.ts";

/**
 * The claim of a machine. GPUs that report a fault are left out: nobody should count on them. Memory in use is
 * as of the report, and does not follow the load: claims change rarely.
 */
export function hardwareClaimOf(machine: MachineFacts, report: GpuReport): HardwareClaim {
  const rows = report.status === "ok" ? report.gpus : [];
  const gpus = rows.flatMap((row): GpuClaim[] => {
    const name = claimText(row.name ?? "");
    if (!row.isHealthy || name === "") return [];
    return [{ name, memoryTotalMiB: row.memoryTotalMiB, memoryUsedMiB: row.memoryUsedMiB }];
  });
  return { ...machine, gpus: gpus.slice(0, claimBounds.gpusMax) };
}

/** Other peers refuse a claim with control characters or long texts. */
function claimText(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]/g, "").slice(0, claimBounds.textLengthMax);
}
