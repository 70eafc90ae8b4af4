// How often did what happen?

/** Counts by name, for `/metrics`. The names are ours, never text from a peer. */
export class Counters<Name extends string> {
  readonly #counts: Record<Name, number>;

  constructor(names: readonly Name[]) {
    this.#counts = Object.fromEntries(names.map((name) => [name, 0])) as Record<Name, number>;
  }

  add(name: Name): void {
    this.#counts[name]++;
  }

  /** A copy; the names in the order given. */
  snapshot(): Readonly<Record<Name, number>> {
    return { ...this.#counts };
  }
}
