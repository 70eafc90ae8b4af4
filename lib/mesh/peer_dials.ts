// How does a node get, and get back, a connection to a certain peer?
import type { Connection } from "@libp2p/interface";
import { OtelaError } from "../base/errors.ts";
import { parsePeerId, type PeerId } from "../base/peer_id.ts";
import { type Ms, secondMs } from "../base/units.ts";
import type { BootstrapTarget } from "./bootstrap_list.ts";
import type { Dialer } from "./dialer.ts";
import type { MeshCounters } from "./mesh_counters.ts";

/** A process that dies takes calls until its port is closed; a moment later the port refuses them. A guess. */
const dyingMs: Ms = secondMs / 10;

/** Peers whose addresses are remembered; the ones not connected are forgotten first. */
const seenPeersMax = 20_000;

export type PeerDialsParts = {
  readonly self: PeerId;
  readonly dialer: Dialer;
  /** Resolves once a connection is admitted. */
  readonly settled: (connection: Connection) => Promise<void>;
  readonly isConnected: (peer: PeerId) => boolean;
  readonly counters: MeshCounters;
  /** Where others see a peer now; slow. */
  readonly locate: (peer: PeerId) => Promise<string[]>;
  readonly failed: (peer: PeerId, isRefused: boolean) => void;
  /** Aborts when the mesh closes. */
  readonly closing: AbortSignal;
};

/** One dial at a time per peer, shared by all who ask for it, and the addresses to try it at. */
export class PeerDials {
  readonly #parts: PeerDialsParts;
  readonly #running = new Map<PeerId, Promise<void>>();
  /** Where a peer was dialled last with success, or was said to be by whoever asked to dial it. */
  readonly #seenAt = new Map<PeerId, readonly string[]>();

  constructor(parts: PeerDialsParts) {
    this.#parts = parts;
  }

  /** @param addresses Empty: where it was seen before. Giving up does not end a dial that others share. */
  async connect(peer: PeerId, addresses: readonly string[], signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#parts.isConnected(peer)) return;
    let dial = this.#running.get(peer);
    if (!dial) {
      const tried = addresses.length > 0 ? addresses : this.#seenAt.get(peer) ?? [];
      dial = this.#dial(peer, tried).finally(() => this.#running.delete(peer));
      dial.catch(() => {});
      this.#running.set(peer, dial);
    }
    await raceSignal(dial, signal);
  }

  /**
   * At once after a peer's last connection closed, if it can be dialled: a killed process refuses, which says more
   * than silence. Then once where the DHT says that it is now. Who needs it longer asks for it.
   */
  async redial(peer: PeerId): Promise<void> {
    const { closing, locate } = this.#parts;
    const known = this.#seenAt.get(peer);
    if (closing.aborted || !known) return;
    if (await this.#isBack(peer, known)) return;
    const moved = (await locate(peer)).filter((address) => !known.includes(address));
    if (moved.length > 0) await this.connect(peer, moved, closing).catch(() => {});
  }

  /** Dials a second time when the first call was taken and dropped: that is no answer yet. */
  async #isBack(peer: PeerId, addresses: readonly string[]): Promise<boolean> {
    const { closing } = this.#parts;
    const dial = () => this.connect(peer, addresses, closing).then(() => "back", howItFailed);
    let outcome = await dial();
    if (outcome === "failed" && !closing.aborted) {
      await new Promise((resolve) => setTimeout(resolve, dyingMs));
      if (!closing.aborted) outcome = await dial();
    }
    return outcome === "back";
  }

  /** @returns Who answered; ourselves, when the address was our own. */
  async connectTarget({ peer, addresses }: BootstrapTarget): Promise<string> {
    const { closing, dialer, settled, self } = this.#parts;
    if (peer) {
      await this.connect(parsePeerId(peer), addresses, closing);
      return peer;
    }
    const connection = await dialer.dial(undefined, addresses, closing)
      .catch((error) => isSelfDial(error) ? undefined : Promise.reject(error));
    if (!connection) return self;
    await settled(connection);
    return connection.remotePeer.toString();
  }

  remember(peer: PeerId, addresses: readonly string[]): void {
    this.#seenAt.delete(peer);
    this.#seenAt.set(peer, addresses);
    if (this.#seenAt.size <= seenPeersMax) return;
    for (const oldest of this.#seenAt.keys()) {
      if (this.#parts.isConnected(oldest)) continue;
      this.#seenAt.delete(oldest);
      return;
    }
  }

  forget(peer: PeerId): void {
    this.#seenAt.delete(peer);
  }

  async #dial(peer: PeerId, addresses: readonly string[]): Promise<void> {
    const { counters, dialer, settled, isConnected, failed, closing } = this.#parts;
    counters.add("dials");
    if (addresses.length > 0) this.remember(peer, addresses);
    try {
      await settled(await dialer.dial(peer, addresses, closing));
    } catch (error) {
      counters.add("dials_failed");
      const isRefused = howItFailed(error) === "refused";
      if (!isConnected(peer) && !closing.aborted) failed(peer, isRefused);
      throw error;
    }
  }
}

function howItFailed(error: unknown): "refused" | "failed" {
  return error instanceof OtelaError && error.fields.isRefused === true ? "refused" : "failed";
}

/** An address without a PeerId may be our own; only the handshake tells. */
function isSelfDial(error: OtelaError): boolean {
  const causes = error.cause instanceof AggregateError ? error.cause.errors : [];
  return causes.some((cause) => cause instanceof Error && cause.name === "InvalidPeerIdError");
}

async function raceSignal<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
