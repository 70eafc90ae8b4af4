// How does a node stop without breaking what it has begun?
import type { DoorListener } from "../gateway/door_listener.ts";
import type { Ms } from "../base/units.ts";
import type { Parts } from "./parts.ts";
import { workOf } from "./thread_work.ts";

/** Looked at so often whether the last exchange is over. */
const lookMs: Ms = 20;

/**
 * Waits until nothing runs any more: requests of clients, exchanges with peers, calls of engines.
 * @param deadlineMs Then it returns all the same.
 * @returns Whether everything has come to its end.
 */
export async function drain(
  parts: Parts,
  doors: readonly DoorListener[],
  deadlineMs: Ms,
): Promise<boolean> {
  const { clock } = parts;
  const endMs = clock.nowMs() + deadlineMs;
  const isBusy = () => workOf(parts).openCount > 0;
  await Promise.all(doors.map((door) => door.close(deadlineMs)));
  while (isBusy() && clock.nowMs() < endMs) {
    await new Promise((resolve) => setTimeout(resolve, lookMs));
  }
  return !isBusy();
}
