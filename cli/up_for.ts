// How do we tell a person how long something has lasted?

/** The two largest units: `3d 4h`, `12m 5s`. */
export function upFor(ms: number): string {
  const seconds = Math.floor(ms / 1_000);
  const parts = [
    [Math.floor(seconds / 86_400), "d"],
    [Math.floor(seconds / 3_600) % 24, "h"],
    [Math.floor(seconds / 60) % 60, "m"],
    [seconds % 60, "s"],
  ] as const;
  const first = parts.findIndex(([amount]) => amount > 0);
  return parts.slice(first < 0 ? 3 : first, (first < 0 ? 3 : first) + 2)
    .map(([amount, unit]) => `${amount}${unit}`).join(" ");
}
