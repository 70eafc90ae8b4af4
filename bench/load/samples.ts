// Which time did half of the requests stay under, and which nearly all?

/** Times of one measurement. The room is taken once, so that recording never makes garbage. */
export class Samples {
  readonly #values: Float32Array<ArrayBuffer>;
  #count = 0;

  /** @param countMax Later samples are not kept; 4 million are 16 MiB and more than any of our runs makes. */
  constructor(countMax = 1 << 22) {
    this.#values = new Float32Array(countMax);
  }

  get count(): number {
    return this.#count;
  }

  add(ms: number): void {
    if (this.#count < this.#values.length) this.#values[this.#count++] = ms;
  }

  clear(): void {
    this.#count = 0;
  }

  /**
   * Nearest-rank quantiles in milliseconds; sorts in place, so ask once and at the end.
   * @param fractions Each in (0, 1].
   * @returns One time per fraction; 0 when nothing was recorded.
   */
  quantiles(...fractions: number[]): number[] {
    const sorted = this.#values.subarray(0, this.#count).sort();
    return fractions.map((fraction) => sorted[Math.ceil(fraction * this.#count) - 1] ?? 0);
  }
}
