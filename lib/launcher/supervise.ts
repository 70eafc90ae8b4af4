// How does a node in a thread come to its end, and with which exit code?
import type { Ms } from "../base/units.ts";
import type { NodeThread } from "./node_thread.ts";
import { followSignals, type SignalSource } from "./signals.ts";

/**
 * Waits for the end of the node. The first signal asks it to stop in good order, the second ends it at once.
 * @param drainMs How long running requests may go on after the first signal.
 * @returns 0 after a stop in good order, 128 + the signal's number after a second signal.
 * @throws {OtelaError} When the node fails.
 */
export async function supervise(
  node: NodeThread,
  signals: SignalSource,
  drainMs: Ms,
): Promise<number> {
  const exit = Promise.withResolvers<number>();
  const unfollow = followSignals(signals, (order) => {
    if (order.type === "stop") node.stop(order.signal, drainMs);
    else exit.resolve(order.code);
  });
  try {
    return await Promise.race([node.ended.then(() => 0), exit.promise]);
  } finally {
    unfollow();
    node.terminate();
  }
}
