// Which series do requests have?
import { HistogramFamily } from "./histogram_family.ts";
import { type Family, SeriesFamily } from "./series_family.ts";

/** Services that keep their own series; further ones are counted as `other`. Guess. */
export const serviceSeriesMax = 128;

/** Triples of service, outcome and worker with their own series; the least used makes room. Guess. */
export const workerSeriesMax = 4_096;

/** The families that one request touches. */
export type RequestSeries = {
  readonly requests: SeriesFamily;
  readonly inFlight: SeriesFamily;
  readonly attempts: SeriesFamily;
  readonly refused: SeriesFamily;
  readonly continuations: SeriesFamily;
  readonly continuationsEstimated: SeriesFamily;
  readonly firstByte: HistogramFamily;
  readonly duration: HistogramFamily;
  /** Names of the reference, so that its dashboards keep working. */
  readonly routed: SeriesFamily;
  readonly routedDuration: Family;
  readonly retries: SeriesFamily;
};

function counter(
  name: string,
  help: string,
  labelNames: readonly string[],
  seriesMax: number,
): SeriesFamily {
  return new SeriesFamily({ name, help, type: "counter", labelNames, seriesMax });
}

/** New, empty families; `Object.values` of the result go to the registry. */
export function requestSeries(): RequestSeries {
  const duration = new HistogramFamily(
    "otela_request_duration_seconds",
    "Time from a request's arrival at this node to the end of its answer",
    "service",
  );
  const routedName = "otela_routing_request_duration_seconds";
  return {
    requests: counter(
      "otela_requests_total",
      "Requests that ended, by service, outcome and the worker that answered last",
      ["service", "outcome", "worker"],
      workerSeriesMax,
    ),
    inFlight: new SeriesFamily({
      name: "otela_requests_in_flight",
      help: "Requests that have begun and not ended",
      type: "gauge",
      labelNames: ["service"],
      // Two more than services: `unknown` and `other`. No series in use is ever evicted.
      seriesMax: serviceSeriesMax + 2,
    }),
    attempts: counter(
      "otela_request_attempts_total",
      "Workers that were asked; more than requests when some were retried",
      ["service"],
      serviceSeriesMax + 2,
    ),
    refused: counter(
      "otela_requests_refused_total",
      "Requests answered with an error before they reached routing, by error code",
      ["code"],
      64,
    ),
    continuations: counter(
      "otela_stream_continuations_total",
      "Streams whose worker was lost in the middle, by service and whether another one went on",
      ["service", "outcome"],
      (serviceSeriesMax + 2) * 2,
    ),
    continuationsEstimated: counter(
      "otela_stream_continuations_estimated_total",
      "Continued streams whose tokens until then were counted by events, by service",
      ["service"],
      serviceSeriesMax + 2,
    ),
    firstByte: new HistogramFamily(
      "otela_request_first_byte_seconds",
      "Time from a request's arrival at this node to the first byte of its answer",
      "service",
    ),
    duration,
    routed: counter(
      "otela_routing_requests_total",
      "Requests that reached a worker, by service and status of the answer",
      ["service", "status"],
      serviceSeriesMax * 16,
    ),
    routedDuration: {
      name: routedName,
      get: () => {
        const snapshot = duration.get();
        const values = snapshot.values.map((value) => ({
          ...value,
          metricName: value.metricName?.replace(snapshot.name, routedName),
        }));
        return { ...snapshot, name: routedName, values };
      },
    },
    retries: counter(
      "otela_routing_retries_total",
      "Requests that needed more than one attempt, by how they ended",
      ["service", "outcome"],
      (serviceSeriesMax + 2) * 2,
    ),
  };
}
