// What becomes of libp2p's own debug output?
import type { ComponentLogger, Logger } from "@libp2p/interface";

/**
 * A logger that says nothing. libp2p's default one reads the environment, which the node thread may not, and formats
 * on the hot path; what matters to people reaches our own log as events.
 */
export function silentLibp2pLog(): ComponentLogger {
  const logger: Logger = Object.assign(() => {}, {
    error: () => {},
    trace: () => {},
    enabled: false,
    newScope: () => logger,
  });
  return { forComponent: () => logger };
}
