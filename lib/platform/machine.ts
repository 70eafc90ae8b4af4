// How large is this machine?
import { MiB } from "../base/units.ts";

/** What a machine has for everybody on it. */
export type MachineFacts = {
  /** As many as this process may use at once. */
  readonly cpuCount: number;
  /** 0 when it may not be asked. */
  readonly memoryMiB: number;
};

/** Reads the size of the machine; without the permission `sys` its memory stays unknown. */
export function machineFacts(): MachineFacts {
  return { cpuCount: navigator.hardwareConcurrency, memoryMiB: memoryMiB() };
}

function memoryMiB(): number {
  try {
    return Math.round(Deno.systemMemoryInfo().total / MiB);
  } catch (error) {
    if (error instanceof Deno.errors.NotCapable) return 0;
    throw error;
  }
}
