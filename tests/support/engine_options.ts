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
  /** What the next requests do instead, one each; engines may share them. */
  readonly sharedFaults?: EngineOverride[];
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
  /** Sends half of the event at which it breaks off. */
  readonly isCutWithin?: boolean;
  /** Ends the stream as if it were whole before this event. */
  readonly endAfter?: number;
  /** Sends nothing more from this event on, and keeps the connection. */
  readonly stallAfter?: number;
  /** With `status`: the value of `Retry-After`. */
  readonly retryAfter?: string;
  /** Where a stream tells its usage; by default in an event of its own, when it is asked for. */
  readonly usage?: EngineUsageShape;
  /** How the lines of a stream end. */
  readonly eol?: "\n" | "\r\n" | "\r";
  /** Bytes of a write: cuts events, and characters of UTF-8, anywhere. */
  readonly writeBytes?: number;
};

/** In an event of its own, with the reason, or in every event. */
export type EngineUsageShape = "own" | "last" | "every";
