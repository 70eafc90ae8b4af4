// What does a signal ask of us?
import { constants } from "node:os";

/** Signals that end a node: Ctrl-C, `kill`, a closed terminal, and what sites send before a time limit. */
export const stopSignals = ["SIGINT", "SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2"] as const;

/** One of {@link stopSignals}. */
export type StopSignal = typeof stopSignals[number];

/** Whoever passes signals on; the returned function ends the listening. */
export type SignalSource = (listener: (signal: StopSignal) => void) => () => void;

/** What a signal asks: the first one to stop in good order, any further one to be gone now. */
export type StopOrder =
  | { readonly type: "stop"; readonly signal: StopSignal }
  | { readonly type: "exit"; readonly code: number };

/**
 * Listens until told to end and turns signals into orders.
 * The code of an exit is 128 + the signal's number, as shells expect. Slurm sends CONT with TERM, and a terminal may repeat INT to a whole group: only the listed signals count.
 * @returns Ends the listening.
 */
export function followSignals(source: SignalSource, obey: (order: StopOrder) => void): () => void {
  let isStopping = false;
  return source((signal) => {
    if (isStopping) return obey({ type: "exit", code: 128 + constants.signals[signal] });
    isStopping = true;
    obey({ type: "stop", signal });
  });
}
