// How is an engine reached?
import { buildConnector, Pool } from "undici";
import { parseServiceAllow, type ServiceAllow } from "../access/service_allow.ts";
import { KiB, type Ms } from "../base/units.ts";
import type { ServiceConfig } from "../config/node_config.ts";

/** A service of this node and the engine behind it; has the shape that `lib/exchange` asks for. */
export type ServiceUpstream = {
  readonly name: string;
  readonly dispatcher: Pool;
  /** `http://127.0.0.1:8000`. */
  readonly origin: string;
  /** Put before every path; empty or `/base`. */
  readonly basePath: string;
  /** Names and values in turn, sent with every request: the engine's own key. */
  readonly headers: readonly string[];
  /** Who may call it over the mesh. */
  readonly allow: ServiceAllow;
  readonly headTimeoutMs: Ms;
  readonly firstTokenTimeoutMs: Ms;
  readonly idleTimeoutMs: Ms;
  readonly retry: "safe" | "never";
  /** Exchanges it runs at once; 0 when unknown. */
  readonly capacity: number;
};

/** Bounds on calls of engines. */
export type UpstreamLimits = {
  readonly connectTimeoutMs: Ms;
  /** Until the engine's head. */
  readonly headTimeoutMs: Ms;
  /** From the head to the first byte of a body. */
  readonly firstTokenTimeoutMs: Ms;
  /** Between two pieces of a body. */
  readonly idleTimeoutMs: Ms;
  /** Connections to one engine; beyond them requests wait in order. */
  readonly connectionsMax: number;
};

/** The head of an answer; as much as a lane carries (protocol §5). */
const headBytesMax = 64 * KiB;

/**
 * Opens nothing yet: connections come with requests. The caller ends it by `dispatcher.close()` or `destroy()`.
 * @param config Its URL was checked when it was read.
 */
export function createUpstream(config: ServiceConfig, limits: UpstreamLimits): ServiceUpstream {
  const { origin, basePath } = addressOf(config);
  return {
    name: config.name,
    dispatcher: createPool(config, limits),
    origin,
    basePath,
    headers: upstreamHeaders(config),
    allow: parseServiceAllow(config.allow),
    headTimeoutMs: limits.headTimeoutMs,
    firstTokenTimeoutMs: limits.firstTokenTimeoutMs,
    idleTimeoutMs: limits.idleTimeoutMs,
    retry: config.retry,
    capacity: config.capacity,
  };
}

/** The origin and the path of a service's URL. */
export function addressOf(
  config: Pick<ServiceConfig, "url">,
): { origin: string; basePath: string } {
  const url = new URL(config.url);
  return { origin: url.origin, basePath: url.pathname.replace(/\/+$/, "") };
}

/**
 * Connections to one engine: one request at a time on each, no limit on silence (its callers have their own,
 * and undici's would cut a model that thinks for five minutes).
 */
export function createPool(
  config: Pick<ServiceConfig, "url" | "socketPath">,
  limits: Pick<UpstreamLimits, "connectTimeoutMs" | "connectionsMax">,
): Pool {
  return new Pool(addressOf(config).origin, {
    connections: limits.connectionsMax,
    pipelining: 1,
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: headBytesMax,
    connect: noDelayConnector(config.socketPath, limits.connectTimeoutMs),
  });
}

/** Nagle's algorithm holds small writes back for up to 40 ms; on Deno 2.7.11 it needs off, then on, to end. */
function noDelayConnector(socketPath: string | null, timeout: Ms): buildConnector.connector {
  const connect = buildConnector({ timeout, socketPath });
  return (options, callback) =>
    connect(options, (...result) => {
      const [, socket] = result;
      if (socket && socketPath === null) {
        socket.setNoDelay(false);
        socket.setNoDelay(true);
      }
      callback(...result);
    });
}

/** The engine's key as a bearer token, then the configured headers, which win. */
export function upstreamHeaders(
  config: Pick<ServiceConfig, "upstreamKey" | "upstreamHeaders">,
): readonly string[] {
  const headers = new Map<string, string>();
  if (config.upstreamKey !== null) headers.set("authorization", `Bearer ${config.upstreamKey}`);
  for (const [name, value] of Object.entries(config.upstreamHeaders)) headers.set(name, value);
  return [...headers].flat();
}
