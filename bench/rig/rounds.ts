// How are several targets compared fairly on a machine whose speed drifts?
import { median } from "./median.ts";

/** Numbers of one measurement. */
type Figures = Readonly<Record<string, number>>;

/** What was measured of each target at each level of load, round by round. */
export class Rounds<Result extends Figures> {
  readonly #results = new Map<string, Result[]>();

  private constructor(readonly targets: readonly string[], readonly levels: readonly number[]) {}

  /**
   * Measures all targets at all levels `roundCount` times. Targets follow each other closely and each round begins
   * with another one, so that a drift of the machine meets all of them.
   */
  static async measure<Result extends Figures>(
    targets: readonly string[],
    levels: readonly number[],
    roundCount: number,
    measure: (target: string, level: number) => Promise<Result>,
  ): Promise<Rounds<Result>> {
    const rounds = new Rounds<Result>(targets, levels);
    for (let round = 0; round < roundCount; round++) {
      for (const level of levels) {
        for (let i = 0; i < targets.length; i++) {
          const target = targets[(i + round) % targets.length];
          rounds.#of(target, level).push(await measure(target, level));
        }
      }
    }
    return rounds;
  }

  has(target: string, level: number): boolean {
    return this.#of(target, level).length > 0;
  }

  /** The middle round. */
  median(target: string, level: number, key: keyof Result): number {
    return median(this.#of(target, level).map((result) => result[key]));
  }

  /** Over all rounds, for what must not happen at all. */
  sum(target: string, level: number, key: keyof Result): number {
    return this.#of(target, level).reduce((sum, result) => sum + result[key], 0);
  }

  /** Compares two targets within each round, where drift cancels out; the middle of that. */
  compare(
    target: string,
    other: string,
    level: number,
    compare: (a: Result, b: Result) => number,
  ): number {
    const others = this.#of(other, level);
    return median(this.#of(target, level).map((result, round) => compare(result, others[round])));
  }

  #of(target: string, level: number): Result[] {
    const key = `${target}@${level}`;
    let results = this.#results.get(key);
    if (results === undefined) this.#results.set(key, results = []);
    return results;
  }
}
