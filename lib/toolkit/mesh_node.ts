// What can a program do with a node of its own?
import { OtelaError } from "../base/errors.ts";
import type { PeerId } from "../base/peer_id.ts";
import { type Ms, secondMs } from "../base/units.ts";
import type { ServiceStatus } from "../gateway/operator_door.ts";
import type { Node } from "../node/node.ts";
import { createMeshFetch, type MeshFetch } from "./mesh_fetch.ts";
import { type Offer, Offers } from "./offer.ts";
import type { OfferOptions } from "./offer_options.ts";
import { type Peer, peersOf } from "./peer.ts";
import { type PeerChange, watchPeers } from "./peer_watch.ts";
import type { StateHome } from "./state_home.ts";

/** Running requests may go on for so long after `stop`. A guess. */
const drainMs: Ms = 10 * secondMs;

/**
 * A node that runs in this thread; made by `startNode`. Leaving an `await using` scope stops it.
 *
 * @example Two nodes: one offers a function, the other calls it
 * ```ts
 * import { equal } from "node:assert/strict";
 * import { type MeshNode, startNode } from "@otela/otela";
 *
 * const secret = "correct horse battery staple";
 * await using worker: MeshNode = await startNode({ secret });
 * await worker.offer({ name: "greet", handler: () => new Response("Good morning") });
 *
 * await using caller: MeshNode = await startNode({ secret, bootstrap: worker.multiaddrs() });
 * for await (const { peer } of caller.watch()) {
 *   if (peer.claim.services.some(({ name }) => name === "greet")) break;
 * }
 * const response = await caller.fetch("service:greet/", { fallback: "all" });
 * equal(await response.text(), "Good morning");
 * equal(response.headers.get("x-computing-node"), worker.peerId);
 * ```
 */
export class MeshNode implements AsyncDisposable {
  /**
   * Calls `service:NAME/PATH`, answered by any peer that matches, or `peer:PEERID/NAME/PATH`, answered by that one,
   * like `fetch` and as the client door would: same routing, retries and limits, no door in between. May be handed
   * on as a function, such as to OpenAI's client. Differences from `fetch`: redirects are not followed, bodies are not
   * decoded, credentials and cookies stay here, and WebSockets need the door. A signal ends the call at once, and the
   * engine's within half a second, or at once when the answer had begun.
   * @throws {OtelaError} With the code that the door would answer: `no_such_service`, `model_not_found`,
   * `no_candidate`, `overloaded`, `peer_unreachable`, `worker_failed`, `timed_out`, …; `node_stopping`. Reading the
   * body fails with the same when the worker breaks off.
   */
  readonly fetch: MeshFetch;
  /** Settles when the node has stopped and given its files back; rejects when it had to end itself. */
  readonly ended: Promise<void>;
  private readonly ending = new AbortController();
  private readonly offers: Offers;

  /** Use `startNode`. @param home What the node lives on; given back at its end. */
  constructor(private readonly node: Node, home: Pick<StateHome, "lost" | "close">) {
    const { inside, socketPath } = node;
    const { signal } = this.ending;
    this.fetch = createMeshFetch(inside, signal);
    this.offers = new Offers({ inside, operatorSocket: socketPath, ending: signal });
    this.ended = this.follow(home);
    this.ended.catch(() => {}); // Nobody may be waiting.
  }

  get peerId(): PeerId {
    return this.node.peerId;
  }

  /** URL of the client door, without a slash at its end. */
  get http(): string {
    return this.node.http;
  }

  /** Addresses by which others reach this node, each ending in `/p2p/…`: what they need as `bootstrap`. */
  multiaddrs(): readonly string[] {
    return this.node.multiaddrs();
  }

  /**
   * Offers a service to the mesh. It is checked first, and claimed once it answers, however long that takes.
   * @throws {OtelaError} `bad_request` when this is no service or its name is taken, `node_stopping`.
   */
  offer(options: OfferOptions): Promise<Offer> {
    return this.offers.add(options);
  }

  /** This node's own services and how they are, by name. */
  services(): readonly ServiceStatus[] {
    return this.node.inside.services.list();
  }

  /** Every peer whose claim this node holds, itself included, in the order of ids. */
  peers(): readonly Peer[] {
    return peersOf(this.node.inside.table());
  }

  /**
   * Tells of every known peer, then of each change, until the signal aborts or the node stops. A reader that is slow
   * misses steps in between, never the last state, and nothing piles up.
   */
  watch(options: { readonly signal?: AbortSignal } = {}): AsyncGenerator<PeerChange, void, void> {
    const { signal } = options;
    // Not composed into one: what is composed with a signal that lives as long as the node stays with it (C054).
    return watchPeers(this.node.inside, [this.ending.signal, ...signal ? [signal] : []]);
  }

  /**
   * Takes nothing new, lets running requests finish, leaves the mesh and gives everything back. Idempotent.
   * @param options `drainMs`: how long requests may go on, 10 s when absent.
   */
  async stop(options: { readonly drainMs?: Ms } = {}): Promise<void> {
    this.end();
    this.node.stop("library", options.drainMs ?? drainMs);
    await this.ended.catch(() => {}); // Why it ended, if not by this, is told there.
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  private end(): void {
    this.ending.abort(new OtelaError("node_stopping", "Cannot use a node that has been stopped"));
  }

  private async follow({ lost, close }: Pick<StateHome, "lost" | "close">): Promise<void> {
    lost.addEventListener("abort", () => void this.stop({ drainMs: 0 }));
    try {
      await this.node.ended;
      lost.throwIfAborted();
    } finally {
      this.end();
      await this.offers.end();
      await close();
    }
  }
}
