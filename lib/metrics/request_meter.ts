// How do forwarded requests become figures without costing the request?
import type { Clock } from "../base/ports.ts";
import type { PeerId } from "../base/peer_id.ts";
import { secondMs } from "../base/units.ts";
import { boundedLabels, type LabelGate } from "./bounded_labels.ts";
import type { HistogramSeries } from "./histogram_family.ts";
import { type RequestSeries, serviceSeriesMax } from "./request_series.ts";
import type { Series } from "./series_family.ts";

/** How a request ended, as the client and the operator would put it. */
export type RequestOutcome =
  /** The engine's answer reached the client whole, whatever its status below 500. */
  | "ok"
  /** The engine answered 500 or more, or sent an error inside a stream. */
  | "engine_error"
  /** The client left before it had everything. */
  | "client_gone"
  /** Nobody could take it: no such service, nobody alive, everybody busy. */
  | "no_candidate"
  /** We refused it: malformed, too large, not allowed. */
  | "rejected"
  | "timed_out"
  /** Every attempt failed, or one failed after the answer had begun. */
  | "worker_failed";

/** One request while it runs. Cheap: one object, no label is hashed. */
export interface RequestToken {
  /** The first byte of the body (or the head of an answer without one) goes to the client. Counts once. */
  firstByte(): void;
  /** Its worker was lost in the middle of a stream: another one went on, or none did. */
  continued(outcome: "continued" | "failed", isUsageEstimated: boolean): void;
  /**
   * The request is over. Counts once; later calls change nothing.
   * @param worker Who answered or failed last; `undefined` when nobody was asked.
   * @param attempts How many peers were asked; 0 when nobody was.
   * @param status Of the answer to the client; 0 when there was none.
   */
  finished(
    outcome: RequestOutcome,
    worker: PeerId | undefined,
    attempts: number,
    status?: number,
  ): void;
}

/** Counts requests of the forward path. */
export interface RequestMeter {
  /** @param service As the client named it; a name nobody offers is counted as `unknown`. */
  started(service: string): RequestToken;
  /** A request that was answered with an error before it reached the forward path. */
  refused(code: string): void;
}

/** What one service has counted. */
type ServiceMeters = {
  readonly name: string;
  readonly inFlight: Series;
  readonly attempts: Series;
  readonly retriesSucceeded: Series;
  readonly retriesExhausted: Series;
  readonly firstByte: HistogramSeries;
  readonly duration: HistogramSeries;
};

class RunningRequest implements RequestToken {
  #firstByteSeen = false;
  #isOver = false;
  readonly #startedAtMs: number;

  constructor(
    private readonly meters: ServiceMeters,
    private readonly series: RequestSeries,
    private readonly labelOfWorker: (worker: string) => string,
    private readonly clock: Clock,
  ) {
    this.#startedAtMs = clock.nowMs();
    meters.inFlight.value++;
  }

  firstByte(): void {
    if (this.#firstByteSeen || this.#isOver) return;
    this.#firstByteSeen = true;
    this.meters.firstByte.observe((this.clock.nowMs() - this.#startedAtMs) / secondMs);
  }

  continued(outcome: "continued" | "failed", isUsageEstimated: boolean): void {
    const { name } = this.meters;
    this.series.continuations.child(name, outcome).value++;
    if (isUsageEstimated) this.series.continuationsEstimated.child(name).value++;
  }

  finished(
    outcome: RequestOutcome,
    worker: PeerId | undefined,
    attempts: number,
    status = 0,
  ): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { meters } = this;
    meters.inFlight.value--;
    meters.attempts.value += attempts;
    meters.duration.observe((this.clock.nowMs() - this.#startedAtMs) / secondMs);
    if (attempts > 1) {
      const isServed = outcome === "ok" || outcome === "engine_error";
      (isServed ? meters.retriesSucceeded : meters.retriesExhausted).value++;
    }
    const label = worker === undefined ? "" : this.labelOfWorker(worker);
    this.series.requests.child(meters.name, outcome, label).value++;
    if (attempts > 0 && status > 0) {
      this.series.routed.child(meters.name, String(status)).value++;
    }
  }
}

/**
 * The meter of one node.
 * @param gate Which names may become labels: what the registry admitted, never what a client typed.
 */
export function createRequestMeter(
  series: RequestSeries,
  { clock, gate }: { clock: Clock; gate: LabelGate },
): RequestMeter {
  const ofService = new Map<string, ServiceMeters>();
  const labels = boundedLabels(gate, serviceSeriesMax);
  function metersOf(service: string): ServiceMeters {
    const known = ofService.get(service);
    if (known) return known;
    const name = labels.service(service);
    const meters = ofService.get(name) ?? {
      name,
      inFlight: series.inFlight.child(name),
      attempts: series.attempts.child(name),
      retriesSucceeded: series.retries.child(name, "succeeded_after_retry"),
      retriesExhausted: series.retries.child(name, "exhausted"),
      firstByte: series.firstByte.child(name),
      duration: series.duration.child(name),
    };
    ofService.set(name, meters);
    return meters;
  }
  return {
    started: (service) => new RunningRequest(metersOf(service), series, labels.worker, clock),
    refused: (code) => void series.refused.child(code).value++,
  };
}
