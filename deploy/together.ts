// How do several starts run at once without one being left behind when another fails?

/**
 * Runs all tasks at once. When one fails the signal of the others aborts, and only when all have settled is
 * the first failure thrown: so whatever they started is known to its owner, or gone.
 * @param signal Aborts all of them.
 * @returns Results in the order of the tasks.
 */
export async function together<T>(
  tasks: readonly ((signal: AbortSignal) => Promise<T>)[],
  signal: AbortSignal,
): Promise<T[]> {
  const failing = new AbortController();
  const either = AbortSignal.any([signal, failing.signal]);
  const failures: unknown[] = [];
  const settled = await Promise.allSettled(tasks.map(async (task) => {
    try {
      return await task(either);
    } catch (error) {
      failures.push(error);
      failing.abort(error);
      throw error;
    }
  }));
  if (failures.length > 0) throw failures[0];
  return settled.map((result) => (result as PromiseFulfilledResult<T>).value);
}
