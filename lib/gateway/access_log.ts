// What do we write down about each request?
import type { Log } from "../base/ports.ts";
import type { Bytes, Ms } from "../base/units.ts";
import type { RequestOutcome } from "../metrics/request_meter.ts";

/**
 * One request that is over. Whoever ends it writes it: the forwarder for answers it made, the door for
 * its own and for everything thrown, so each request is written once.
 */
export type AccessRecord = {
  readonly requestId: string;
  readonly method: string;
  /** Raw, without the query: queries hold keys and prompts. */
  readonly path: string;
  readonly status: number;
  /** Empty when the request was not for a service. */
  readonly service: string;
  /** Short PeerId of who answered last; empty when nobody was asked. */
  readonly worker: string;
  readonly attempts: number;
  readonly durationMs: Ms;
  /** -1 when no byte was answered. */
  readonly firstByteMs: Ms | -1;
  /** Of the answer's body. */
  readonly bodyBytes: Bytes;
  readonly outcome: RequestOutcome;
  /** How often the stream went on at another worker. */
  readonly continuations: number;
  /** Tokens before a continuation were counted by events, so that its usage is about right. */
  readonly isUsageEstimated: boolean;
  /** The error's code; empty when there was none. */
  readonly code: string;
};

/** Where finished requests are written down. */
export interface AccessLog {
  /** Ask before building a record: a request that is not written down costs this one look. */
  wants(outcome: RequestOutcome): boolean;
  write(record: AccessRecord): void;
}

/** Longest path in a record; the rest is cut. */
const pathCharactersMax = 512;

/** Which requests are written down; at thousands a second a line for each would be most of the log's work. */
export type AccessLogChoice = "all" | "failed" | "none";

/** An access log that writes `request.done` at info. */
export function createAccessLog(log: Log, choice: AccessLogChoice): AccessLog {
  const wants = (outcome: RequestOutcome): boolean => {
    if (choice !== "failed") return choice === "all";
    return outcome !== "ok" && outcome !== "client_gone";
  };
  return {
    wants,
    write(record) {
      if (!wants(record.outcome)) return;
      const { path, durationMs, firstByteMs } = record;
      log.info("request.done", {
        ...record,
        path: path.length > pathCharactersMax ? `${path.slice(0, pathCharactersMax)}…` : path,
        durationMs: roundMs(durationMs),
        firstByteMs: roundMs(firstByteMs),
      });
    },
  };
}

function roundMs(ms: Ms): Ms {
  return Math.round(ms * 10) / 10;
}
