// Which known word did a person probably mean?

/** Longer words are not compared: nobody mistypes them, and the cost is the product of the lengths. */
const wordCharactersMax = 80;

/**
 * The known word with the fewest edits (insert, delete, replace, swap of neighbours) from a mistyped one.
 * @param word As typed; case does not count.
 * @param known In order of preference among equals.
 * @returns `undefined` when nothing is within a third of the word's length (at least 1, at most 3 edits).
 */
export function nearest(word: string, known: readonly string[]): string | undefined {
  if (word.length > wordCharactersMax) return undefined;
  const typed = word.toLowerCase();
  let best: string | undefined;
  let bestEdits = Math.min(3, Math.max(1, Math.floor(word.length / 3))) + 1;
  for (const candidate of known) {
    if (candidate.length > wordCharactersMax) continue;
    if (Math.abs(candidate.length - typed.length) >= bestEdits) continue;
    const edits = editCount(typed, candidate.toLowerCase());
    if (edits < bestEdits) [best, bestEdits] = [candidate, edits];
  }
  return best;
}

/** Optimal string alignment distance: three rows of the usual table. */
function editCount(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const isSame = a[row - 1] === b[column - 1];
      let edits = Math.min(
        last[column] + 1,
        current[column - 1] + 1,
        last[column - 1] + (isSame ? 0 : 1),
      );
      const isSwap = row > 1 && column > 1 && a[row - 1] === b[column - 2] &&
        a[row - 2] === b[column - 1];
      if (isSwap) edits = Math.min(edits, beforeLast[column - 2] + 1);
      current.push(edits);
    }
    [beforeLast, last] = [last, current];
  }
  return last[b.length];
}
