// In which units do we count?
export type Ms = number;
export type Bytes = number;

export const KiB = 1024;
export const MiB = 1024 * KiB;
export const GiB = 1024 * MiB;
export const secondMs = 1_000;
export const minuteMs = 60 * secondMs;
export const hourMs = 60 * minuteMs;

const durationUnits: Record<string, Ms> = {
  ms: 1,
  s: secondMs,
  m: minuteMs,
  h: hourMs,
  d: 24 * hourMs,
};
const byteUnits: Record<string, Bytes> = {
  B: 1,
  KB: 1_000,
  MB: 1_000_000,
  GB: 1_000_000_000,
  KiB,
  MiB,
  GiB,
};

/**
 * `"10s"`, `"1h30m"`, `"250ms"` as milliseconds.
 * @returns `undefined` when the text is no duration, is negative or is not finite.
 */
export function parseDuration(text: string): Ms | undefined {
  if (!/^(\d+(\.\d+)?(ms|s|m|h|d))+$/.test(text)) return undefined;
  let total = 0;
  for (const [, amount, , unit] of text.matchAll(/(\d+(\.\d+)?)(ms|s|m|h|d)/g)) {
    total += Number(amount) * durationUnits[unit];
  }
  return Number.isFinite(total) ? total : undefined;
}

/**
 * `"4KiB"`, `"2GiB"`, `"512"` as bytes.
 * @returns `undefined` when the text is no size or not a whole number of bytes.
 */
export function parseBytes(text: string): Bytes | undefined {
  const match = /^(\d+(?:\.\d+)?)(B|KB|MB|GB|KiB|MiB|GiB)?$/.exec(text);
  if (!match) return undefined;
  const bytes = Number(match[1]) * byteUnits[match[2] ?? "B"];
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}
