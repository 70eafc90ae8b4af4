// Which requests did the test engine see, and did their clients stay?

/** How a request ended: the answer went out whole, or the client went away before. */
export type EngineOutcome = "completed" | "aborted";

/** One request as the engine saw it. */
export type EngineRequest = {
  /** Counted from 1. */
  readonly id: number;
  readonly method: string;
  /** Path and query as they came. */
  readonly path: string;
  readonly headers: readonly (readonly [string, string])[];
  /** The body of JSON endpoints, empty until it was read. */
  bodyText: string;
  /** SSE events sent so far. */
  eventsSent: number;
  /** `running` until the outcome is known. */
  state: "running" | EngineOutcome;
  /** Settles when the request ended; never rejects. */
  readonly outcome: Promise<EngineOutcome>;
};

/** More are forgotten, oldest first. */
const requestsMax = 10_000;

/** Every request of one engine, in order of arrival, and ways to wait for the next. */
export class EngineLog {
  readonly requests: EngineRequest[] = [];
  readonly #watchers = new Set<() => void>();
  #lastId = 0;

  /** Notes the start of a request. @returns The record, and the call that settles its outcome. */
  begin(
    request: Pick<Request, "method" | "headers">,
    path: string,
  ): [EngineRequest, (outcome: EngineOutcome) => void] {
    const { promise, resolve } = Promise.withResolvers<EngineOutcome>();
    const record: EngineRequest = {
      id: ++this.#lastId,
      method: request.method,
      path,
      headers: [...request.headers],
      bodyText: "",
      eventsSent: 0,
      state: "running",
      outcome: promise,
    };
    this.requests.push(record);
    if (this.requests.length > requestsMax) this.requests.shift();
    this.changed();
    return [record, (outcome) => {
      if (record.state !== "running") return;
      record.state = outcome;
      resolve(outcome);
      this.changed();
    }];
  }

  /** Requests that ended because their client went away. */
  get abortedCount(): number {
    return this.requests.filter((request) => request.state === "aborted").length;
  }

  /**
   * Waits for a request of which something is true, those already here included.
   * @throws {Error} When none is seen in time; lists what was seen.
   */
  waitFor(isWanted: (request: EngineRequest) => boolean, withinMs = 5_000): Promise<EngineRequest> {
    return this.#until(() => this.requests.find(isWanted), withinMs);
  }

  /** Waits until so many clients went away. @throws {Error} When they did not in time. */
  async waitForAborted(count: number, withinMs = 5_000): Promise<void> {
    await this.#until(() => this.abortedCount >= count || undefined, withinMs);
  }

  /** Lets those who wait look again. */
  changed(): void {
    for (const watcher of [...this.#watchers]) watcher();
  }

  #until<T>(look: () => T | undefined, withinMs: number): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const watcher = () => {
      const found = look();
      if (found === undefined) return;
      stop();
      resolve(found);
    };
    const timer = setTimeout(() => {
      stop();
      const seen = this.requests.map((r) => `${r.method} ${r.path} ${r.state}`).slice(-20);
      reject(new Error(`The engine saw no such request within ${withinMs} ms: ${seen.join(", ")}`));
    }, withinMs);
    const stop = () => {
      clearTimeout(timer);
      this.#watchers.delete(watcher);
    };
    this.#watchers.add(watcher);
    watcher();
    return promise;
  }
}
