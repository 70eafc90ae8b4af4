// What must be known of an engine to call it?
import type { ServiceAllow } from "../access/service_allow.ts";
import type { Ms } from "../base/units.ts";
import type { EnginePool } from "../engine/engine_pool.ts";

/** A service of this node and the engine behind it (port; `lib/service` keeps the real ones). */
export type Upstream = {
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
  /** Until the engine's head; models think for minutes. */
  readonly headTimeoutMs: Ms;
  /** From the engine's head to the first byte of its body. */
  readonly firstTokenTimeoutMs: Ms;
  /** Between two pieces of a body. */
  readonly idleTimeoutMs: Ms;
};

/** Finds a service of this node by its exact name. */
export type FindUpstream = (service: string) => Upstream | undefined;
