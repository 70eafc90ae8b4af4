// How does a node find its way into the mesh, and back into it?
import { messageOf } from "../base/errors.ts";
import type { Clock, Log, Random } from "../base/ports.ts";
import { type BootstrapTarget, groupBootstraps } from "./bootstrap_list.ts";
import { BootstrapPlan } from "./bootstrap_plan.ts";
import { type BootstrapSource, parseBootstrapSource, sourceName } from "./bootstrap_source.ts";

export type BootstrapParts = {
  /** Entries of the configuration; what is no source is skipped with a warning. */
  readonly entries: readonly string[];
  readonly self: string;
  readonly resolve: (source: BootstrapSource) => Promise<string[]>;
  /** Dials a node and waits until it is admitted. @returns Its PeerId, which may be ours. */
  readonly dial: (target: BootstrapTarget) => Promise<string>;
  readonly isConnected: (peer: string) => boolean;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
};

/** Does what `BootstrapPlan` says, from `start` to `stop`. */
export class Bootstrap {
  readonly #parts: BootstrapParts;
  readonly #plan: BootstrapPlan;
  /** What was warned about already, so that a bad entry is told once and not at every look. */
  readonly #warned = new Set<string>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isRunning = false;

  constructor(parts: BootstrapParts) {
    this.#parts = parts;
    const sources: BootstrapSource[] = [];
    for (const entry of parts.entries) {
      const source = parseBootstrapSource(entry);
      if (source) sources.push(source);
      else parts.log.warn("bootstrap.skipped", { entry: entry.slice(0, 80), reason: "no source" });
    }
    // Nobody is found through it before somebody else was; a node that stands alone asks nobody.
    if (sources.length > 0) sources.push({ kind: "dht" });
    this.#plan = new BootstrapPlan(sources, parts.self, parts.random);
  }

  /** Whether everything was tried once: who is alone then is alone for now. */
  get wasAllTried(): boolean {
    return this.#plan.wasAllTried;
  }

  start(): void {
    this.#isRunning = true;
    this.wake();
  }

  stop(): void {
    this.#isRunning = false;
    clearTimeout(this.#timer);
  }

  /** To be called when a peer connected or disconnected. */
  wake(): void {
    if (!this.#isRunning) return;
    clearTimeout(this.#timer);
    const { clock, isConnected } = this.#parts;
    const { resolve, dial, wakeInMs } = this.#plan.next(clock.nowMs(), isConnected);
    for (const source of resolve) this.#resolve(source);
    for (const target of dial) this.#dial(target);
    if (wakeInMs !== undefined) this.#timer = setTimeout(() => this.wake(), wakeInMs);
  }

  async #resolve(source: BootstrapSource): Promise<void> {
    const { resolve, clock } = this.#parts;
    const name = sourceName(source);
    try {
      const { targets, skipped } = groupBootstraps(await resolve(source));
      for (const entry of skipped) {
        this.#warnOnce("bootstrap.skipped", name + entry, { source: name, entry });
      }
      this.#warned.delete(name);
      this.#plan.resolved(source, targets);
    } catch (error) {
      this.#warnOnce("bootstrap.source_failed", name, { source: name, error: messageOf(error) });
      this.#plan.resolveFailed(source, clock.nowMs());
    }
    this.wake();
  }

  async #dial(target: BootstrapTarget): Promise<void> {
    const { dial, clock } = this.#parts;
    try {
      const peer = await dial(target);
      this.#warned.delete(target.key);
      this.#plan.dialed(target.key, peer, clock.nowMs());
    } catch (error) {
      this.#warnOnce("bootstrap.unreachable", target.key, {
        node: target.key,
        error: messageOf(error),
      });
      this.#plan.dialFailed(target.key, clock.nowMs());
    }
    this.wake();
  }

  /** The first time as a warning, later for debugging; at most 1,000 are remembered. */
  #warnOnce(event: string, key: string, fields: Record<string, unknown>): void {
    if (!this.#isRunning) return;
    if (this.#warned.has(key)) return this.#parts.log.debug(event, fields);
    if (this.#warned.size < 1_000) this.#warned.add(key);
    this.#parts.log.warn(event, fields);
  }
}
