// Which records of the log are told to whoever started the node?
import type { Log } from "../base/ports.ts";

/** Hears of an event with its fields, which are plain data. */
export type EventListener = (event: string, fields: Readonly<Record<string, unknown>>) => void;

/** What programs wait for or react to: a service can be used, or not any more; a peer has another status. */
const told: ReadonlySet<string> = new Set([
  "peer.changed",
  "service.failing",
  "service.ready",
  "service.starting",
  "service.withdrawn",
]);

/**
 * The same log, which tells the listener of events too, whatever level is written. What is told is what a person can
 * read, so the two cannot disagree.
 */
export function listened(log: Log, listener: EventListener | undefined): Log {
  if (!listener) return log;
  const and = (write: Log["info"]): Log["info"] => (event, fields = {}) => {
    write(event, fields);
    if (told.has(event)) listener(event, fields);
  };
  return { debug: log.debug, info: and(log.info), warn: and(log.warn), error: log.error };
}
