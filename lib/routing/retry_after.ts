// For how long does a busy worker want to be left alone?
import { type Ms, secondMs } from "../base/units.ts";

/** A worker is asked last for no longer than this, whatever it says: C032's 24 hours would lose it. A guess. */
export const restMsMax: Ms = 30 * secondMs;

/**
 * Reads `Retry-After`, either form (RFC 9110 §10.2.3).
 * @param header Untrusted; empty when there is none.
 * @param wallMs Now, in milliseconds since the Unix epoch: only a date needs it.
 * @returns `undefined` when it says nothing that can be understood; 0 for what has passed.
 */
export function parseRetryAfter(header: string, wallMs: Ms): Ms | undefined {
  const text = header.trim();
  if (/^\d{1,9}$/.test(text)) return Number(text) * secondMs;
  // Anything else that `Date.parse` takes, such as "5.5", is not what the header may hold.
  if (!/^[A-Za-z]{3,9},? /.test(text)) return undefined;
  const atMs = parseDate(text);
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - wallMs);
}

/** How long a worker that answered so is asked last. */
export function restMsOf(header: string, wallMs: Ms): Ms {
  return Math.min(restMsMax, parseRetryAfter(header, wallMs) ?? secondMs);
}

const months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/** The one form that servers must send today: `Sun, 06 Nov 1994 08:49:37 GMT`. */
function parseDate(text: string): Ms {
  const match = /^[A-Za-z]{3}, (\d{2}) ([A-Za-z]{3}) (\d{4}) (\d{2}):(\d{2}):(\d{2}) GMT$/.exec(
    text,
  );
  const month = months.indexOf(match?.[2].toLowerCase() ?? "");
  if (!match || month < 0) return NaN;
  return epochDays(Number(match[3]), month + 1, Number(match[1])) * 86_400_000 +
    Number(match[4]) * 3_600_000 + Number(match[5]) * 60_000 + Number(match[6]) * secondMs;
}

/** Days since 1970-01-01 in the Gregorian calendar. Source: H. Hinnant, "chrono-compatible low-level date algorithms". */
function epochDays(year: number, month: number, day: number): number {
  const y = month <= 2 ? year - 1 : year;
  const era = Math.floor(y / 400);
  const yearOfEra = y - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) +
    dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
}
