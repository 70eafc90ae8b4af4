// How is a test engine described?
import type { EngineKind } from "./engine_kind.ts";

/** Everything has a default; an engine without options serves the model `test-model` on a free port. */
export type EngineOptions = {
  readonly models?: readonly string[];
  /** In `x-engine` and `system_fingerprint` of every answer, so that one sees who served. */
  readonly name?: string;
  readonly kind?: EngineKind;
  /** 0 for a free one. */
  readonly port?: number;
  readonly hostname?: string;
  /** Listens on a Unix socket instead. */
  readonly unixPath?: string;
  /** When set, `/v1/…` wants it as a bearer token. */
  readonly apiKey?: string;
  /** Tokens of every answer instead of its natural text. */
  readonly tokens?: number;
  /** Before the first event or the whole answer. */
  readonly firstMs?: number;
  /** Between events. */
  readonly intervalMs?: number;
  /** Answers as cheaply as possible and keeps no log. */
  readonly isBench?: boolean;
};

/** Per request, in the member `x_engine` of the JSON body: overrides the options above. */
export type EngineOverride = {
  readonly tokens?: number;
  readonly firstMs?: number;
  readonly intervalMs?: number;
  /** Breaks the connection before this event. */
  readonly cutAfter?: number;
  /** Answers with this status and an OpenAI error. */
  readonly status?: number;
  /** Never answers. */
  readonly isHanging?: boolean;
};
