// How does a node of this process offer a service, and take it back?
import { OtelaError } from "../base/errors.ts";
import type { NodeInside } from "../node/node_inside.ts";
import { llmServiceName } from "../service/service_rules.ts";
import { handlerHealthPath, type HandlerServer, serveHandler } from "./handler_server.ts";
import type { OfferOptions } from "./offer_options.ts";

/**
 * A service that this node offers. Leaving an `await using` scope withdraws it.
 *
 * @example Offers, serves and withdraws
 * ```ts
 * import { equal } from "node:assert/strict";
 * import { type Offer, startNode } from "@otela/otela";
 *
 * await using node = await startNode();
 * const offer: Offer = await node.offer({ name: "time", handler: () => new Response("noon") });
 * await offer.ready();
 * equal(await (await node.fetch("service:time/", { fallback: "all" })).text(), "noon");
 * await offer.withdraw();
 * equal(node.services().length, 0);
 * ```
 */
export type Offer = AsyncDisposable & {
  readonly name: string;
  /**
   * Settles once the service answers and this node's claim says so; other nodes hear of it a moment later.
   * @throws {OtelaError} `no_such_service` when it was withdrawn, `node_stopping`; or the signal's reason.
   */
  ready(options?: { readonly signal?: AbortSignal }): Promise<void>;
  /** Takes it back at once; requests that run go on to their end. Idempotent. */
  withdraw(): Promise<void>;
};

/** What offers need of their node. */
export type OfferPorts = {
  readonly inside: NodeInside;
  /** See `serveHandler`. */
  readonly operatorSocket: string;
  /** Aborts when the node ends; its reason is an `OtelaError`. */
  readonly ending: AbortSignal;
};

/** The offers of one node, and the functions served for them. */
export class Offers {
  private readonly servers = new Set<HandlerServer>();

  constructor(private readonly ports: OfferPorts) {}

  /** @throws {OtelaError} `bad_request` when it describes no service, or its name is taken. */
  async add(options: OfferOptions): Promise<Offer> {
    const { inside, operatorSocket } = this.ports;
    this.ports.ending.throwIfAborted();
    const server = "handler" in options
      ? await serveHandler(options.handler, operatorSocket)
      : undefined;
    if (server) this.servers.add(server);
    try {
      await inside.services.add(descriptionOf(options, server));
    } catch (error) {
      await this.close(server);
      throw error;
    }
    return this.offerOf(options.name, server);
  }

  /** Ends the functions that are still served; the node has ended by now. */
  async end(): Promise<void> {
    await Promise.all([...this.servers].map((server) => this.close(server)));
  }

  private offerOf(name: string, server: HandlerServer | undefined): Offer {
    const { inside, ending } = this.ports;
    const withdrawn = new AbortController();
    const withdraw = async (): Promise<void> => {
      if (withdrawn.signal.aborted) return;
      withdrawn.abort(notOffered(name));
      await inside.services.remove(name);
      // Running requests may take minutes; who withdraws a service does not wait for them.
      void this.close(server);
    };
    return {
      name,
      ready: ({ signal } = {}) =>
        untilReady(inside, name, [withdrawn.signal, ending, ...signal ? [signal] : []]),
      withdraw,
      [Symbol.asyncDispose]: withdraw,
    };
  }

  private async close(server: HandlerServer | undefined): Promise<void> {
    if (!server) return;
    await server.close();
    this.servers.delete(server);
  }
}

/** In the form of an entry of `services` in the configuration. */
function descriptionOf(
  options: OfferOptions,
  server: HandlerServer | undefined,
): Record<string, unknown> {
  const { name, identityGroups } = options;
  return {
    name,
    url: "url" in options ? options.url : undefined,
    socket: "socket" in options ? options.socket : server?.socketPath,
    health_path: options.healthPath ?? (server && handlerHealthPath),
    identity_group: identityGroups ?? (name === llmServiceName ? undefined : ["all"]),
    allow: options.allow,
    retry: options.retry,
    capacity: options.capacity,
    upstream_key: options.upstreamKey,
    upstream_headers: options.upstreamHeaders,
  };
}

function untilReady(
  inside: NodeInside,
  name: string,
  signals: readonly AbortSignal[],
): Promise<void> {
  const isReady = () =>
    inside.services.list().some((service) => service.name === name && service.state === "ready");
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const look = () => {
    const over = signals.find(({ aborted }) => aborted);
    if (over) reject(over.reason);
    else if (isReady()) resolve();
  };
  const unsubscribe = inside.onChange(look);
  for (const signal of signals) signal.addEventListener("abort", look);
  look();
  return promise.finally(() => {
    unsubscribe();
    for (const signal of signals) signal.removeEventListener("abort", look);
  });
}

function notOffered(name: string): OtelaError {
  return new OtelaError(
    "no_such_service",
    `Cannot wait for the service "${name}" as this node must offer it: it was withdrawn`,
  );
}
