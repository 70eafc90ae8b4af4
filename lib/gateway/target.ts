// Where should a request go, and who brings it there?
import type { PeerId } from "../base/peer_id.ts";
import type { ServerAnswer, ServerRequest } from "../server/types.ts";
import type { RequestContext } from "./request_context.ts";

type Reach = {
  readonly service: string;
  /** Raw path and query for the engine, beginning with `/`. */
  readonly path: string;
  /** What stood before `path` in the client's URL: `Location` of answers is mapped back below it. */
  readonly publicPrefix: string;
};

/** Whom a request is meant for. */
export type ForwardTarget =
  /** Any peer that matches. */
  | { readonly kind: "service" } & Reach
  /** Exactly this peer. */
  | { readonly kind: "peer"; readonly peer: PeerId } & Reach
  /** This node's own service only. */
  | { readonly kind: "local" } & Reach;

/** Carries requests to where they should go (port of the door; the forward path implements it). */
export interface Forwarder {
  /**
   * Counts and logs the request itself once it answers; what it throws, the door logs.
   * @throws {OtelaError} Whatever `problem.ts` has a status for; nothing of an answer was sent then.
   */
  forward(
    request: ServerRequest,
    target: ForwardTarget,
    context: RequestContext,
  ): Promise<ServerAnswer>;
}
