// Which of several addresses answers first?
import type { Ms } from "../base/units.ts";

export type DialRaceOptions<Won> = {
  /** The next address is tried after this, or at once when the one before failed. */
  readonly staggerMs: Ms;
  /** Everything together may take this long. */
  readonly budgetMs: Ms;
  readonly signal: AbortSignal;
  /** Closes what a loser opened after all. */
  discard(late: Won): void;
};

/**
 * Tries addresses one after the other without waiting for the slow ones (after RFC 8305), so a good address wins
 * within `staggerMs` × its position however many before it swallow packets.
 * @param addresses Best first.
 * @throws {AggregateError} With what each address said, when none answered.
 */
export async function dialRace<Address, Won>(
  addresses: readonly Address[],
  attempt: (address: Address, signal: AbortSignal) => Promise<Won>,
  options: DialRaceOptions<Won>,
): Promise<Won> {
  const race = new AbortController();
  const stop = () => race.abort(options.signal.reason);
  options.signal.addEventListener("abort", stop, { once: true });
  if (options.signal.aborted) stop();
  const budget = setTimeout(
    () => race.abort(new DOMException(`No answer within ${options.budgetMs} ms`, "TimeoutError")),
    options.budgetMs,
  );
  try {
    return await runRace(addresses, attempt, options, race);
  } finally {
    clearTimeout(budget);
    options.signal.removeEventListener("abort", stop);
    race.abort(new DOMException("Another address answered", "AbortError"));
  }
}

function runRace<Address, Won>(
  addresses: readonly Address[],
  attempt: (address: Address, signal: AbortSignal) => Promise<Won>,
  { staggerMs, discard }: DialRaceOptions<Won>,
  race: AbortController,
): Promise<Won> {
  const { promise, resolve, reject } = Promise.withResolvers<Won>();
  const errors: unknown[] = [];
  let next = 0;
  let isDecided = false;
  let stagger: ReturnType<typeof setTimeout> | undefined;
  const decide = (settle: () => void) => {
    isDecided = true;
    clearTimeout(stagger);
    settle();
  };
  const startNext = () => {
    clearTimeout(stagger);
    if (isDecided || next === addresses.length) return;
    attempt(addresses[next++], race.signal).then(
      (won) => isDecided ? discard(won) : decide(() => resolve(won)),
      (error) => {
        errors.push(error);
        if (isDecided) return;
        if (errors.length < addresses.length && !race.signal.aborted) return startNext();
        decide(() => reject(new AggregateError(errors, "No address answered")));
      },
    );
    stagger = setTimeout(startNext, staggerMs);
  };
  race.signal.addEventListener("abort", () => {
    if (!isDecided) {
      decide(() => reject(new AggregateError([...errors, race.signal.reason], "Gave up")));
    }
  }, { once: true });
  if (race.signal.aborted) reject(new AggregateError([race.signal.reason], "Gave up"));
  else if (addresses.length === 0) reject(new AggregateError([], "There is no address"));
  else startNext();
  return promise;
}
