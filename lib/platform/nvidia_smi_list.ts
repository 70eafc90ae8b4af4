// Into which devices are the GPUs of this machine divided?
import type { GpuRow } from "./nvidia_smi.ts";

export const gpuListArgs: readonly string[] = ["-L"];

/** A part of a GPU (Multi-Instance GPU) that can be given to a process. */
export type GpuSlice = {
  /** `3g.40gb`. */
  readonly profile: string;
  /** Counted on its GPU. */
  readonly device: number;
  /** `MIG-…`. */
  readonly uuid: string;
};

/** One physical GPU of `nvidia-smi -L`. */
export type GpuEntry = {
  readonly index: number;
  readonly name: string;
  /** `GPU-…`. */
  readonly uuid: string;
  /** Empty when the GPU is whole. */
  readonly slices: readonly GpuSlice[];
};

const gpuLine = /^GPU (\d+): (.+) \(UUID: (GPU-[\w-]+)\)$/;
const sliceLine = /^\s+MIG (\S+)\s+Device\s+(\d+): \(UUID: (MIG-[\w/-]+)\)$/;

/** Reads the output of `nvidia-smi -L`; lines of any other form are no devices. */
export function parseGpuList(text: string): readonly GpuEntry[] {
  const gpus: (GpuEntry & { slices: GpuSlice[] })[] = [];
  for (const line of text.split("\n").map((one) => one.trimEnd())) {
    const gpu = gpuLine.exec(line);
    if (gpu) gpus.push({ index: Number(gpu[1]), name: gpu[2], uuid: gpu[3], slices: [] });
    const slice = sliceLine.exec(line);
    if (slice) {
      gpus.at(-1)?.slices.push({ profile: slice[1], device: Number(slice[2]), uuid: slice[3] });
    }
  }
  return gpus;
}

/**
 * The devices that a process can be given: a divided GPU is replaced by its slices, whose memory the table does
 * not tell. A slice is as healthy as its GPU.
 * @param gpus Without an entry for a row, its GPU counts as whole.
 */
export function divideGpus(rows: readonly GpuRow[], gpus: readonly GpuEntry[]): readonly GpuRow[] {
  return rows.flatMap((row) => {
    const entry = gpus.find(({ uuid, index }) =>
      row.uuid ? uuid === row.uuid : index === row.index
    );
    if (!entry || entry.slices.length === 0) return [row];
    return entry.slices.map((slice): GpuRow => ({
      ...row,
      name: row.name === null ? null : `${row.name} MIG ${slice.profile}`,
      uuid: slice.uuid,
      memoryTotalMiB: null,
      memoryUsedMiB: null,
      utilizationPercent: null,
    }));
  });
}
