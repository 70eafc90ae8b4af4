// How does a test wait without sleeping and without hanging?
import type { Ms } from "../../lib/base/units.ts";

/** The value of a promise, or an error once the deadline passed; leaves no timer behind. */
export async function within<T>(deadlineMs: Ms, promise: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const error = new Error(`Nothing happened within ${deadlineMs} ms`);
  const timer = setTimeout(() => late.reject(error), deadlineMs);
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
