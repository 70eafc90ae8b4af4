// What does a bench ask of the load process, and what does it get back?

/** Requests back to back on kept connections, each connection waiting for its answer. */
export type ClosedLoopJob = {
  readonly kind: "closed_loop";
  readonly url: string;
  readonly connections: number;
  /** Answers of this first time are not counted. */
  readonly warmUpMs: number;
  readonly measuredMs: number;
};

export type ClosedLoopResult = {
  readonly rps: number;
  readonly p50_ms: number;
  readonly p99_ms: number;
  /** Answers other than 200, connections lost, answers that never came; warm-up included. */
  readonly failed: number;
};

/** Event streams, `connections` of them open at any time. */
export type EventStreamsJob = {
  readonly kind: "event_streams";
  readonly url: string;
  readonly connections: number;
  /** Events of one stream and the time between them, as the engine was told. */
  readonly eventCount: number;
  readonly intervalMs: number;
  /** How many streams each connection asks for, one after the other. */
  readonly streamsPerConnection: number;
};

export type EventStreamsResult = {
  /** Over the time in which all connections have a stream open. */
  readonly events_per_s: number;
  readonly first_p50_ms: number;
  readonly first_p99_ms: number;
  readonly gap_p99_ms: number;
  readonly streams: number;
  /** Events that did not come. */
  readonly lost: number;
  readonly failed: number;
};

/** One large body, downloaded or uploaded. */
export type BulkJob = {
  readonly kind: "bulk";
  readonly url: string;
  readonly direction: "down" | "up";
  readonly bytes: number;
  /** The most that the client reads or writes a second; as fast as it can when not given. */
  readonly bytesPerS?: number;
  /** Then the client goes away. */
  readonly stopAfterMs: number;
  /** Whether that is meant, and no failure. */
  readonly mayStop?: boolean;
};

export type BulkResult = {
  /** From before the connection to the last byte. */
  readonly mb_per_s: number;
  readonly mb: number;
  readonly seconds: number;
  /** 0 when no answer came. */
  readonly status: number;
  readonly failed: number;
};

/** Small requests, so many a second, one after the other. */
export type PacedJob = {
  readonly kind: "paced";
  readonly url: string;
  readonly perS: number;
  readonly measuredMs: number;
};

export type PacedResult = {
  readonly p50_ms: number;
  readonly p99_ms: number;
  readonly max_ms: number;
  readonly answered: number;
  readonly failed: number;
};

export type LoadJob = ClosedLoopJob | EventStreamsJob | BulkJob | PacedJob;

/** The result of a job, or why there is none. */
export type LoadAnswer<Result> = { readonly result: Result } | { readonly error: string };
