// Which connections may speak our protocols?
import type { Connection, Stream } from "@libp2p/interface";
import { messageOf, OtelaError } from "../base/errors.ts";
import { parsePeerId, type PeerId } from "../base/peer_id.ts";
import type { Log } from "../base/ports.ts";
import type { Ms } from "../base/units.ts";
import { isSameTag, receiveTag, sendTag } from "./admit_exchange.ts";
import type { MeshCounterName, MeshCounters } from "./mesh_counters.ts";

/** A connection that has not shown its tag by then is closed (protocol §1). */
export const admitAfterMs: Ms = 5_000;

export type AdmissionOptions = {
  readonly protocol: string;
  readonly self: PeerId;
  /** What a peer must show; empty in an open network. */
  readonly tagOf: (peer: PeerId) => Uint8Array;
  readonly counters: MeshCounters;
  readonly log: Log;
  /** The peer showed its tag: from now on the connection is used. */
  readonly admitted: (connection: Connection, peer: PeerId) => void;
};

type Pending = PromiseWithResolvers<void> & { readonly timer: ReturnType<typeof setTimeout> };

/**
 * Once per connection the dialler shows its tag and the other side answers with its own. Until then our protocols
 * refuse the connection; wrong, or missing after `admitAfterMs`: closed and counted.
 */
export class Admission {
  readonly #options: AdmissionOptions;
  readonly #admitted = new WeakSet<Connection>();
  readonly #pending = new Map<Connection, Pending>();

  constructor(options: AdmissionOptions) {
    this.#options = options;
  }

  isAdmitted(connection: Connection): boolean {
    return this.#admitted.has(connection);
  }

  /** Resolves once the connection is admitted. @throws {OtelaError} `forbidden` when it is refused. */
  async settled(connection: Connection): Promise<void> {
    if (this.isAdmitted(connection)) return;
    const pending = this.#pending.get(connection);
    if (!pending) throw notAdmitted("it is closed");
    await pending.promise;
  }

  /** To be called for every connection that opens. */
  opened(connection: Connection): void {
    const refuse = () => this.#refuse(connection, "refused_no_tag");
    const pending = { ...Promise.withResolvers<void>(), timer: setTimeout(refuse, admitAfterMs) };
    // Nobody may be waiting for this one.
    pending.promise.catch(() => {});
    this.#pending.set(connection, pending);
    if (connection.direction === "outbound") this.#show(connection);
  }

  /** To be called for every connection that closes. */
  closed(connection: Connection): void {
    this.#settle(connection)?.reject(notAdmitted("it closed first"));
  }

  /** Handles the admission protocol: their tag first, then ours, so a stranger learns no tag. */
  accept(stream: Stream, connection: Connection): void {
    receiveTag(stream, (tag) => {
      if (!tag || !this.#isRight(connection, tag)) {
        return this.#refuse(connection, "refused_wrong_secret");
      }
      sendTag(stream, this.#options.tagOf(this.#options.self));
      stream.close().catch((error) => stream.abort(error));
      this.#admit(connection);
    });
  }

  async #show(connection: Connection): Promise<void> {
    const { protocol, tagOf, self } = this.#options;
    try {
      const signal = AbortSignal.timeout(admitAfterMs);
      const stream = await connection.newStream(protocol, { signal, runOnLimitedConnection: true });
      receiveTag(stream, (tag) => {
        if (!tag) return this.#refuse(connection, "refused_by_peer");
        if (!this.#isRight(connection, tag)) {
          return this.#refuse(connection, "refused_wrong_secret");
        }
        stream.close().catch((error) => stream.abort(error));
        this.#admit(connection);
      });
      sendTag(stream, tagOf(self));
    } catch (error) {
      const isOther = error instanceof Error && error.name === "UnsupportedProtocolError";
      this.#refuse(connection, isOther ? "refused_other_network" : "refused_by_peer", error);
    }
  }

  #isRight(connection: Connection, tag: Uint8Array): boolean {
    return isSameTag(tag, this.#options.tagOf(parsePeerId(connection.remotePeer.toString())));
  }

  #admit(connection: Connection): void {
    const pending = this.#settle(connection);
    if (!pending) return;
    this.#admitted.add(connection);
    this.#options.counters.add("admitted");
    this.#options.admitted(connection, parsePeerId(connection.remotePeer.toString()));
    pending.resolve();
  }

  #refuse(connection: Connection, reason: MeshCounterName, cause?: unknown): void {
    const pending = this.#settle(connection);
    if (!pending) return;
    this.#options.counters.add(reason);
    this.#options.log.warn("admission.refused", {
      peer: connection.remotePeer.toString(),
      address: connection.remoteAddr.toString(),
      reason,
      ...(cause === undefined ? {} : { cause: messageOf(cause) }),
    });
    const error = notAdmitted(reason);
    pending.reject(error);
    connection.abort(error);
  }

  #settle(connection: Connection): Pending | undefined {
    const pending = this.#pending.get(connection);
    this.#pending.delete(connection);
    clearTimeout(pending?.timer);
    return pending;
  }
}

function notAdmitted(reason: string): OtelaError {
  return new OtelaError(
    "forbidden",
    `Cannot use the connection as both sides must show the network's tag: ${reason}`,
    { fields: { reason } },
  );
}
