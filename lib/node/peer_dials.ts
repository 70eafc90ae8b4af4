// How does membership reach peers that it wants to be connected to?
import { OtelaError } from "../base/errors.ts";
import type { PeerId } from "../base/peer_id.ts";
import { type Ms, secondMs } from "../base/units.ts";

/** How a dial ended that brought no connection. */
export type DialFailure = "dialRefused" | "dialFailed";

/** What dials work with. */
export type PeerDialPorts = {
  readonly connect: (peer: PeerId, signal: AbortSignal) => Promise<void>;
  readonly failed: (peer: PeerId, how: DialFailure) => void;
};

const dialMsMax: Ms = 8 * secondMs;
/** Dials at once; a mesh of a thousand lost peers must not open a thousand sockets. */
const dialsMax = 16;

/** Dials in the order in which they were asked for, a few at once, each peer once. */
export class PeerDials {
  private readonly queue = new Set<PeerId>();
  /** A controller a dial: signals composed with one that lives as long as the node would pile up there (C054). */
  private readonly dialing = new Map<PeerId, AbortController>();
  private isClosed = false;

  constructor(private readonly ports: PeerDialPorts) {}

  dial(peer: PeerId): void {
    if (this.dialing.has(peer)) return;
    this.queue.add(peer);
    this.dialNext();
  }

  close(): void {
    this.isClosed = true;
    this.queue.clear();
    for (const abort of this.dialing.values()) abort.abort();
  }

  private dialNext(): void {
    for (const peer of this.queue) {
      if (this.dialing.size >= dialsMax) return;
      this.queue.delete(peer);
      void this.dialOne(peer);
    }
  }

  private async dialOne(peer: PeerId): Promise<void> {
    if (this.isClosed) return;
    const abort = new AbortController();
    const timer = setTimeout(() => abort.abort(), dialMsMax);
    this.dialing.set(peer, abort);
    let failure: DialFailure | undefined;
    try {
      await this.ports.connect(peer, abort.signal);
    } catch (error) {
      failure = failureOf(error);
    }
    clearTimeout(timer);
    // Before the failure is told: what follows from it may be another dial.
    this.dialing.delete(peer);
    if (failure && !this.isClosed) this.ports.failed(peer, failure);
    this.dialNext();
  }
}

/** A host that answers that nobody listens says more than one that does not answer. */
function failureOf(error: unknown): DialFailure {
  const isRefused = error instanceof OtelaError && error.fields.isRefused === true;
  return isRefused ? "dialRefused" : "dialFailed";
}
