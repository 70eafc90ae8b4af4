// How long may the parts of a build take that depend on others?
import { type Ms, secondMs } from "../../lib/base/units.ts";

/** A host that does not answer within this will not: a build behind a closed network must say so soon. */
export const reachMs: Ms = 10 * secondMs;
/** To fetch 40 MB from a registry that does answer, or to unpack them (guess: 0.4 MB/s). */
export const transferMs: Ms = 100 * secondMs;
/** To bundle or compile; takes two seconds on an idle machine. */
export const buildMs: Ms = 120 * secondMs;
