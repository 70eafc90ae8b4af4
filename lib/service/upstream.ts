// How is an engine reached?
import { parseServiceAllow, type ServiceAllow } from "../access/service_allow.ts";
import type { Ms } from "../base/units.ts";
import type { ServiceConfig } from "../config/node_config.ts";
import { EnginePool } from "../engine/engine_pool.ts";

/** A service of this node and the engine behind it; has the shape that `lib/exchange` asks for. */
export type ServiceUpstream = {
  readonly name: string;
  readonly pool: EnginePool;
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

/**
 * Opens nothing yet: connections come with requests. The caller ends it by `pool.close()` or `destroy()`.
 * @param config Its URL was checked when it was read.
 */
export function createUpstream(config: ServiceConfig, limits: UpstreamLimits): ServiceUpstream {
  const { origin, basePath } = addressOf(config);
  return {
    name: config.name,
    pool: createPool(config, limits),
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

/** Connections to one engine. They set no limit on silence: their callers do. */
export function createPool(
  config: Pick<ServiceConfig, "url" | "socketPath">,
  { connectTimeoutMs, connectionsMax }: Pick<UpstreamLimits, "connectTimeoutMs" | "connectionsMax">,
): EnginePool {
  const { origin } = addressOf(config);
  return new EnginePool({
    origin,
    socketPath: config.socketPath,
    connectionsMax,
    connectTimeoutMs,
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
