// What can a program offer to the mesh?
import type { PeerId } from "../base/peer_id.ts";

/**
 * Answers one request of the mesh. Its URL begins with `http+unix://localhost`; the path is the caller's, without
 * the service's name. Its `signal` aborts when the caller goes away.
 *
 * @example A function as a service
 * ```ts
 * import { equal } from "node:assert/strict";
 * import type { Handler } from "@otela/otela";
 *
 * const shout: Handler = async (request) => new Response((await request.text()).toUpperCase());
 * const request = new Request("http+unix://localhost/", { method: "POST", body: "hello" });
 * equal(await (await shout(request)).text(), "HELLO");
 * ```
 */
export type Handler = (request: Request) => Response | Promise<Response>;

/**
 * Where a service is answered: exactly one of these.
 *
 * @example A server when it is known, else a function
 * ```ts
 * import { deepEqual } from "node:assert/strict";
 * import type { OfferOptions, OfferSource } from "@otela/otela";
 *
 * const sourceOf = (url: string | undefined): OfferSource =>
 *   url === undefined ? { handler: () => new Response("nothing here") } : { url };
 * const options: OfferOptions = { name: "page", ...sourceOf("http://127.0.0.1:8000") };
 * deepEqual(options, { name: "page", url: "http://127.0.0.1:8000" });
 * ```
 */
export type OfferSource =
  /** An HTTP server: `http://127.0.0.1:8000`. */
  | { readonly url: string }
  /** An HTTP server on a Unix socket: its absolute path. */
  | { readonly socket: string }
  /** A function of this process. */
  | { readonly handler: Handler };

/**
 * A service of this node: a name, who answers, and what clients may find it by.
 *
 * @example An engine that only one peer may call
 * ```ts
 * import { equal } from "node:assert/strict";
 * import { type OfferOptions, parsePeerId, startNode } from "@otela/otela";
 *
 * const engine = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, () => new Response("yes"));
 * const friend = parsePeerId("12D3KooWGRUPcSGwbkBbHGfbuoCgbZ1L8fLBmVBPGkSmtXPs9fgX");
 * const options: OfferOptions = {
 *   name: "oracle",
 *   url: `http://127.0.0.1:${engine.addr.port}`,
 *   identityGroups: ["topic=weather"],
 *   allow: [friend],
 * };
 * await using node = await startNode({ services: [options] });
 * equal(node.services()[0].name, "oracle");
 * await engine.shutdown();
 * ```
 */
export type OfferOptions = OfferSource & {
  /** 1 to 80 letters, digits, dots, dashes or underscores; `llm` is what OpenAI's paths mean. */
  readonly name: string;
  /**
   * What requests may ask for: `model=Qwen3-8B`, `model=*`, `all`. A service named `llm` is asked for
   * `/v1/models` besides, and its models are added. `["all"]` when absent and the name is another.
   */
  readonly identityGroups?: readonly string[];
  /** Answers 2xx when the service can serve; `/health` when absent. A handler is well while its process lives. */
  readonly healthPath?: string;
  /** The only peers that may call it; every peer of the network when absent. */
  readonly allow?: readonly PeerId[];
  /** Whether a request that it may have seen may be sent to another worker; `safe` when absent. */
  readonly retry?: "safe" | "never";
  /** Requests it runs at once; unknown when absent. */
  readonly capacity?: number;
  /** Sent to it as a bearer token with every request. */
  readonly upstreamKey?: string;
  /** Headers added to every request for it. */
  readonly upstreamHeaders?: Readonly<Record<string, string>>;
};
