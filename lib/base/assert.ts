// What do we do when our own code is wrong?

/**
 * Ends the operation when an invariant of our own code is broken. Never for input from outside.
 * @throws {Error} When `condition` is false.
 */
export function assert(condition: unknown, invariant: string): asserts condition {
  if (!condition) throw new Error(`Broken invariant: ${invariant}`);
}
