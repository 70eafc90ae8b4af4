// What of the outside world does our code ask for?
import type { Ms } from "./units.ts";

/** Monotonic time since an arbitrary start. Never the wall clock: clocks of peers may be years apart. */
export interface Clock {
  nowMs(): Ms;
}

/** Uniform numbers in [0, 1). Seed it to replay a decision. */
export type Random = () => number;

/** Severity of a record. error: a person must act; warn: degraded but handled; info: a state changed. */
export type LogLevel = "debug" | "info" | "warn" | "error";

/** Structured log: an event `noun.verb` and its fields. Never keys, tokens or bodies. */
export interface Log {
  debug(event: string, fields?: Readonly<Record<string, unknown>>): void;
  info(event: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(event: string, fields?: Readonly<Record<string, unknown>>): void;
  error(event: string, fields?: Readonly<Record<string, unknown>>): void;
}

/** A log that says nothing: for tests and tools that have no reader. */
export const silentLog: Log = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
};
