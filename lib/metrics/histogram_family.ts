// How long do things take, in buckets that fit language models?
import type { Family, FamilySnapshot } from "./series_family.ts";

/**
 * Upper bounds in seconds, from a cached first token (5 ms) to a long generation (10 minutes). The
 * reference stops at 10 s, where most generations have not even ended.
 */
export const llmBucketsS: readonly number[] = [
  0.005,
  0.01,
  0.025,
  0.05,
  0.1,
  0.25,
  0.5,
  1,
  2.5,
  5,
  10,
  30,
  60,
  120,
  300,
  600,
];

/** The histogram of one label value. Observing is a short scan and three additions. */
export class HistogramSeries {
  readonly #counts: Float64Array;
  #sum = 0;
  #count = 0;

  constructor(private readonly bucketsS: readonly number[]) {
    this.#counts = new Float64Array(bucketsS.length);
  }

  /** @param seconds Below 0 (a clock that went back) counts as 0. */
  observe(seconds: number): void {
    const value = Math.max(0, seconds);
    this.#sum += value;
    this.#count++;
    const { bucketsS } = this;
    for (let index = 0; index < bucketsS.length; index++) {
      if (value <= bucketsS[index]) {
        this.#counts[index]++;
        return;
      }
    }
  }

  /** Cumulative counts by upper bound, sum and count, as Prometheus wants them. */
  read(): { readonly cumulative: readonly number[]; readonly sum: number; readonly count: number } {
    let total = 0;
    const cumulative = Array.from(this.#counts, (count) => total += count);
    return { cumulative, sum: this.#sum, count: this.#count };
  }
}

/** Histograms by one label; the number of label values is bounded by whoever asks for children. */
export class HistogramFamily implements Family {
  readonly #children = new Map<string, HistogramSeries>();

  constructor(
    readonly name: string,
    private readonly help: string,
    private readonly labelName: string,
    private readonly bucketsS: readonly number[] = llmBucketsS,
  ) {}

  /** The histogram of one label value; made when it is new. */
  child(labelValue: string): HistogramSeries {
    const known = this.#children.get(labelValue);
    if (known) return known;
    const series = new HistogramSeries(this.bucketsS);
    this.#children.set(labelValue, series);
    return series;
  }

  get(): FamilySnapshot {
    const values: FamilySnapshot["values"][number][] = [];
    for (const [labelValue, series] of this.#children) {
      const { cumulative, sum, count } = series.read();
      const labels = { [this.labelName]: labelValue };
      this.bucketsS.forEach((le, index) =>
        values.push({
          metricName: `${this.name}_bucket`,
          labels: { ...labels, le },
          value: cumulative[index],
        })
      );
      values.push({
        metricName: `${this.name}_bucket`,
        labels: { ...labels, le: "+Inf" },
        value: count,
      });
      values.push({ metricName: `${this.name}_sum`, labels, value: sum });
      values.push({ metricName: `${this.name}_count`, labels, value: count });
    }
    return { name: this.name, help: this.help, type: "histogram", values, aggregator: "sum" };
  }
}
