// Which keys say how requests are balanced, limited and continued?
import { hourMs, minuteMs, secondMs } from "../base/units.ts";
import { type ConfigKey, key } from "./key.ts";

/** What a head does for the requests it takes. */
export const routingKeys: readonly ConfigKey[] = [
  key(
    "routing.continuations_max",
    "int",
    2,
    "guess",
    "How often a broken stream goes on at another worker; 0: never",
    { flag: true, max: 16 },
  ),
  key(
    "routing.no_continuation",
    "list",
    [],
    "ours",
    "Services whose streams never go on elsewhere",
    {
      flag: true,
    },
  ),
  key("routing.no_hold", "list", [], "ours", "Services whose answers are never held back", {
    flag: true,
  }),
  key("routing.weights", "map", {}, "reference", "Share of single workers, as PEERID=2; 1 else", {
    flag: true,
  }),
  key("routing.queue_max", "int", 1_000, "guess", "Requests that wait while every worker is full", {
    flag: true,
    max: 1_000_000,
  }),
  key("routing.queue_wait", "duration", 30 * secondMs, "guess", "How long each of them waits", {
    flag: true,
    min: 1,
    max: hourMs,
  }),
  key(
    "routing.keep_alive",
    "duration",
    0,
    "guess: off",
    "Silence in a stream of events that a comment breaks; 0s: none",
    { flag: true, max: hourMs },
  ),
  key(
    "limits.first_token_timeout",
    "duration",
    10 * minuteMs,
    "guess: models think for minutes",
    "From the head of an answer to its first byte",
    { min: 1 },
  ),
  key("limits.total_timeout", "duration", 24 * hourMs, "guess", "For a whole request", { min: 1 }),
  key("limits.body_timeout", "duration", minuteMs, "guess", "Between two pieces of a request", {
    min: 1,
  }),
];
