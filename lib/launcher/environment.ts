// What of the environment does a node get to know?

/** Variables that the node reports or its tools need; every `SLURM_…` is passed besides. */
const names = new Set([
  "PATH",
  "HOME",
  "LANG",
  "USER",
  "CUDA_VISIBLE_DEVICES",
  "ROCR_VISIBLE_DEVICES",
  "HIP_VISIBLE_DEVICES",
]);

/**
 * The variables that the node thread may know, as values: it cannot read the environment itself, which may
 * hold credentials of other programs. `LD_…` is never among them: with it the system would refuse the tools.
 */
export function environmentFor(
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const passed: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && (names.has(name) || name.startsWith("SLURM_"))) passed[name] = value;
  }
  return passed;
}
