// Where do a node's records go, and how do they look?
import { getTextFormatter, jsonLinesFormatter, type LogRecord } from "@logtape/logtape";
import { isPeerId, shortPeerId } from "../base/peer_id.ts";
import type { Log, LogLevel } from "../base/ports.ts";

const rankOf: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3 };

/** LogTape's name for our `warn`; the others are the same. */
const logtapeLevel = { debug: "debug", info: "info", warn: "warning", error: "error" } as const;

const textFormatter = getTextFormatter({
  timestamp: "time",
  format: ({ timestamp, level, message }) => `${timestamp} ${level} ${message}`,
});

/**
 * A log that writes one line a record.
 * @param write Takes a whole line with its end; usually to stderr, since stdout is the result.
 */
export function createLog(
  config: { readonly level: LogLevel; readonly json: boolean },
  write: (line: string) => void,
): Log {
  const format = config.json ? jsonLinesFormatter : textFormatter;
  const writer = (level: LogLevel) => {
    if (rankOf[level] < rankOf[config.level]) return () => {};
    return (event: string, fields: Readonly<Record<string, unknown>> = {}) =>
      write(format(recordOf(level, event, fields, config.json)));
  };
  return {
    debug: writer("debug"),
    info: writer("info"),
    warn: writer("warn"),
    error: writer("error"),
  };
}

function recordOf(
  level: LogLevel,
  event: string,
  fields: Readonly<Record<string, unknown>>,
  isJson: boolean,
): LogRecord {
  const message = isJson ? event : [event, ...pairs(fields)].join(" ");
  return {
    category: ["otela"],
    level: logtapeLevel[level],
    message: [message],
    rawMessage: message,
    timestamp: Date.now(),
    properties: isJson ? { ...fields } : {},
  };
}

function pairs(fields: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(fields).map(([name, value]) => `${name}=${text(value)}`);
}

/** Words stand bare, everything else as JSON: no foreign text can begin a line of its own. */
function text(value: unknown): string {
  if (typeof value === "string" && isPeerId(value)) return `…${shortPeerId(value)}`;
  if (typeof value === "string" && /^[\w.:/@+-]+$/.test(value)) return value;
  return JSON.stringify(value) ?? "-";
}
