// How do we count on the hot path without hashing labels each time?

/** One number of a family. Hold on to it and change `value`: that is the whole cost of counting. */
export type Series = { value: number };

/** What one family gives the registry when somebody asks for the metrics. */
export type FamilySnapshot = {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly values: readonly {
    readonly value: number;
    readonly labels: Readonly<Record<string, string | number>>;
    readonly metricName?: string;
  }[];
  readonly aggregator: "sum";
};

/** Anything that the registry can print (port of prom-client's registry, which only calls `get`). */
export interface Family {
  readonly name: string;
  get(): FamilySnapshot;
}

/** Longest label value that is kept; longer ones are cut. PeerIds have 52 characters. */
export const labelCharactersMax = 128;

type Labelled = { readonly labels: Readonly<Record<string, string>>; value: number };

/**
 * A counter or gauge with labels. prom-client's own children sort and join their labels on every
 * increment (1 µs); here a child is found by one map lookup, or kept by whoever counts often.
 */
export class SeriesFamily implements Family {
  readonly #children = new Map<string, Labelled>();
  readonly name: string;
  readonly #help: string;
  readonly #type: "counter" | "gauge";
  readonly #labelNames: readonly string[];
  readonly #seriesMax: number;

  /**
   * @param options `seriesMax`: beyond it the least recently used series is forgotten (a counter that
   * comes back starts at 0, which Prometheus reads as a restart).
   */
  constructor(options: {
    readonly name: string;
    readonly help: string;
    readonly type: "counter" | "gauge";
    readonly labelNames: readonly string[];
    readonly seriesMax: number;
  }) {
    this.name = options.name;
    this.#help = options.help;
    this.#type = options.type;
    this.#labelNames = options.labelNames;
    this.#seriesMax = options.seriesMax;
  }

  /** The series of these label values, in the order of the names; made when it is new. */
  child(...labelValues: readonly string[]): Series {
    const key = labelValues.join("\0");
    const known = this.#children.get(key);
    if (known) {
      this.#children.delete(key);
      this.#children.set(key, known);
      return known;
    }
    if (this.#children.size >= this.#seriesMax) {
      const [leastUsed] = this.#children.keys();
      this.#children.delete(leastUsed);
    }
    const labels = Object.fromEntries(
      this.#labelNames.map((name, index) => [
        name,
        (labelValues[index] ?? "").slice(0, labelCharactersMax),
      ]),
    );
    const series = { labels, value: 0 };
    this.#children.set(key, series);
    return series;
  }

  get(): FamilySnapshot {
    return {
      name: this.name,
      help: this.#help,
      type: this.#type,
      values: [...this.#children.values()],
      aggregator: "sum",
    };
  }
}
