// How long did almost all of them take?

/** @param share 0.99 for the value that 99 of 100 do not exceed. @returns 0 for none. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
