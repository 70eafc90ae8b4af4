// Which clock does a node go by?
import type { Clock } from "../base/ports.ts";

/** Monotonic, in milliseconds with fractions, from the start of this thread. */
export const monotonicClock: Clock = { nowMs: () => performance.now() };
