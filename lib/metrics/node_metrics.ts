// Where do all figures of one node come together?
import type { Metric, Registry } from "prom-client";
import type { Clock } from "../base/ports.ts";
import type { LabelGate } from "./bounded_labels.ts";
import { type MetricSources, sourceFamilies } from "./metric_sources.ts";
import { createRequestMeter, type RequestMeter } from "./request_meter.ts";
import { requestSeries } from "./request_series.ts";
import type { Family } from "./series_family.ts";

/** Prometheus' text format, as prom-client names it. */
const contentType = "text/plain; version=0.0.4; charset=utf-8";

/** The metrics of one node. */
export type NodeMetrics = {
  readonly meter: RequestMeter;
  /** `content-type` of what `text` returns. */
  readonly contentType: string;
  /** Everything in Prometheus' text format, read at this moment. */
  text(): Promise<string>;
};

/**
 * A registry of its own for one node: nothing is shared with other nodes of the process and nothing
 * registers itself on import, unlike with prom-client's default registry.
 * @param options `gate` decides which names may become labels, `sources` are read at scrape time.
 */
export function createNodeMetrics(options: {
  readonly clock: Clock;
  readonly gate: LabelGate;
  readonly sources: MetricSources;
}): NodeMetrics {
  const series = requestSeries();
  const families: readonly Family[] = [
    ...Object.values(series),
    ...sourceFamilies(options.sources),
  ];
  let printer: Promise<Registry> | undefined;
  return {
    meter: createRequestMeter(series, options),
    contentType,
    text: async () => await (await (printer ??= createPrinter(families))).metrics(),
  };
}

/** Loaded with the first scrape: prom-client takes 10 MB, and most workers are never scraped. */
async function createPrinter(families: readonly Family[]): Promise<Registry> {
  const { Registry } = await import("prom-client");
  const registry = new Registry();
  // It prints whatever has `name` and `get`; its types know only its own classes.
  for (const family of families) registry.registerMetric(family as unknown as Metric);
  return registry;
}
