// How do tests drive a registry with the real loader over a real byte stream?
import type { ByteStream } from "../../lib/base/byte_stream.ts";
import type { PeerId } from "../../lib/base/peer_id.ts";
import type { ClaimLoader } from "../../lib/node/claim_loader.ts";
import type { RegistryEffect } from "../../lib/registry/effects.ts";
import type { Registry } from "../../lib/registry/registry.ts";
import { SyncSession } from "../../lib/registry/sync.ts";

/** Between two of these slices everything else in the thread has its turn. */
const sliceMs = 5;
const envelopesAtOnce = 8;

/** Carries out what one registry and its sessions ask for, in slices of at most 5 ms. */
export class RegistryDriver implements Disposable {
  receivedBytes = 0;
  readonly #slicesMs: number[] = [];
  readonly #sessions = new Map<PeerId, { session: SyncSession; stream: ByteStream }>();
  #nextSlice: ReturnType<typeof setTimeout> | undefined;
  readonly #ticker = setInterval(() => this.#tick(), 1_000);

  constructor(readonly registry: Registry, readonly loader: ClaimLoader) {}

  [Symbol.dispose](): void {
    clearInterval(this.#ticker);
    clearTimeout(this.#nextSlice);
  }

  /** How long the thread was held at a time: `share` of all slices were shorter. */
  sliceMsAt(share: number): number {
    const sorted = this.#slicesMs.toSorted((a, b) => a - b);
    return sorted[Math.floor(share * (sorted.length - 1))];
  }

  connect(peer: PeerId, stream: ByteStream, isInitiator: boolean): void {
    const session = new SyncSession({ peer, isInitiator, table: this.registry });
    this.#sessions.set(peer, { session, stream });
    stream.bind({
      data: (chunk) => {
        this.receivedBytes += chunk.byteLength;
        this.did(this.registry.arrived(peer, session.received(chunk, performance.now())));
        this.#schedule();
      },
      drained: () => this.#schedule(),
      closed: () => this.#sessions.delete(peer),
    });
    this.#schedule();
  }

  did(effects: readonly RegistryEffect[]): void {
    for (const effect of effects) {
      if (effect.type === "reply") this.#sessions.get(effect.peer)?.session.show(effect.envelope);
      if (effect.type !== "loadClaim") continue;
      this.loader.load(effect.document).then((result) => {
        this.did(this.registry.claimLoaded(effect.head, result, performance.now()));
        this.#schedule();
      });
    }
  }

  #schedule(): void {
    this.#nextSlice ??= setTimeout(() => {
      this.#nextSlice = undefined;
      this.#slice();
    }, 0);
  }

  #slice(): void {
    const startedAtMs = performance.now();
    const isOver = () => performance.now() - startedAtMs > sliceMs - 2;
    while (this.registry.hasWork && !isOver()) {
      this.did(this.registry.work(performance.now(), envelopesAtOnce));
    }
    let isBlocked = false;
    for (const { session, stream } of this.#sessions.values()) {
      for (isBlocked = false; !isBlocked && !isOver();) {
        const bytes = session.poll(performance.now());
        if (!bytes) break;
        isBlocked = !stream.send(bytes);
      }
    }
    if (this.registry.hasWork || (isOver() && !isBlocked)) this.#schedule();
    this.#slicesMs.push(performance.now() - startedAtMs);
  }

  #tick(): void {
    this.did(this.registry.ticked(performance.now()));
    for (const { session } of this.#sessions.values()) session.ticked(performance.now());
    this.#schedule();
  }
}
