// Into which devices are the GPUs of this machine divided?

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

/** Devices that a process can be given: the slices of a divided GPU in place of the GPU itself. */
export function countUsableDevices(gpus: readonly GpuEntry[]): number {
  return gpus.reduce((sum, gpu) => sum + (gpu.slices.length || 1), 0);
}
