// How does a test wait for what another process will show?
import { type Ms, secondMs } from "../../lib/base/units.ts";

/** Between two looks at a process that cannot call us. */
const lookMs: Ms = 25;

/**
 * Looks until it is so.
 * @param look Asks once; what it throws counts as "not yet" and is told when time is up.
 * @throws {Error} When it is not so within the deadline.
 */
export async function eventually(
  look: () => boolean | Promise<boolean>,
  deadlineMs: Ms = 15 * secondMs,
): Promise<void> {
  const endMs = performance.now() + deadlineMs;
  let cause: unknown;
  while (performance.now() < endMs) {
    try {
      if (await look()) return;
    } catch (error) {
      cause = error;
    }
    await new Promise((resolve) => setTimeout(resolve, lookMs));
  }
  throw new Error(`It was not so within ${deadlineMs} ms`, { cause });
}
