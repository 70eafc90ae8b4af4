// Which bootstrap node is dialled next, which source asked again, and when?
import type { Random } from "../base/ports.ts";
import { minuteMs, type Ms, secondMs } from "../base/units.ts";
import type { BootstrapTarget } from "./bootstrap_list.ts";
import type { BootstrapSource } from "./bootstrap_source.ts";

/** Bootstrap nodes that a node stays connected to, where there are as many (guess). Others are found by gossip. */
export const bootstrapPeersWanted = 8;

/** Wait before the n-th retry: doubles from the first to the last, ± 50 % so that many do not come at once. */
export const retryMs = { first: 500, last: 30 * secondMs } as const;

/** How soon a source is asked again, while nodes are missing and while they are not. A file costs nothing. */
const refreshMs: Record<BootstrapSource["kind"], { missing: Ms; enough: Ms }> = {
  address: { missing: Infinity, enough: Infinity },
  file: { missing: secondMs, enough: 10 * secondMs },
  dnsaddr: { missing: 10 * secondMs, enough: 5 * minuteMs },
  url: { missing: 10 * secondMs, enough: 5 * minuteMs },
  dht: { missing: 30 * secondMs, enough: 5 * minuteMs },
};

type Attempts = { failures: number; dueMs: Ms; isRunning: boolean; wasTried: boolean };
type SourceState = Attempts & { readonly source: BootstrapSource; askedMs: Ms; keys: Set<string> };
type TargetState = Attempts & { target: BootstrapTarget; peer: string | undefined };

export type BootstrapStep = {
  readonly resolve: readonly BootstrapSource[];
  readonly dial: readonly BootstrapTarget[];
  /** Ask again after this; `undefined`: only when something happened. */
  readonly wakeInMs: Ms | undefined;
};

/** Sans I/O: is told what happened and when, answers what to do. Sources are compared by identity. */
export class BootstrapPlan {
  readonly #self: string;
  readonly #random: Random;
  readonly #sources: readonly SourceState[];
  readonly #targets = new Map<string, TargetState>();

  constructor(sources: readonly BootstrapSource[], self: string, random: Random) {
    this.#self = self;
    this.#random = random;
    this.#sources = sources.map((source) => ({
      source,
      ...fresh(),
      askedMs: -Infinity,
      keys: new Set(),
    }));
  }

  /** What to do now; marks it as running, so ask only when it will be done. */
  next(nowMs: Ms, isConnected: (peer: string) => boolean): BootstrapStep {
    const missing = [...this.#targets.values()].filter(({ peer }) => !peer || !isConnected(peer));
    const connectedCount = this.#targets.size - missing.length;
    const isEnough = connectedCount >= Math.min(bootstrapPeersWanted, this.#targets.size) &&
      connectedCount > 0;
    for (const state of this.#sources) {
      const after = refreshMs[state.source.kind][isEnough ? "enough" : "missing"];
      if (state.wasTried && state.failures === 0) state.dueMs = state.askedMs + after;
    }
    const wanted = isEnough ? [] : missing;
    const resolve = takeDue(this.#sources, nowMs);
    const dial = takeDue(wanted, nowMs);
    for (const state of resolve) state.askedMs = nowMs;
    const dues = [...this.#sources, ...wanted].filter((one) => !one.isRunning).map((one) =>
      one.dueMs
    );
    const soonestMs = Math.min(...dues);
    return {
      resolve: resolve.map(({ source }) => source),
      dial: dial.map(({ target }) => target),
      wakeInMs: Number.isFinite(soonestMs) ? Math.max(0, soonestMs - nowMs) : undefined,
    };
  }

  /** A source answered; nodes that no source names any more are forgotten. */
  resolved(source: BootstrapSource, targets: readonly BootstrapTarget[]): void {
    const state = this.#stateOf(source);
    Object.assign(state, { failures: 0, isRunning: false, wasTried: true });
    state.keys = new Set(targets.map(({ key }) => key));
    for (const target of targets) {
      if (target.peer === this.#self) continue;
      const known = this.#targets.get(target.key);
      if (known) known.target = target;
      else this.#targets.set(target.key, { ...fresh(), target, peer: target.peer });
    }
    for (const key of this.#targets.keys()) {
      if (!this.#sources.some(({ keys }) => keys.has(key))) this.#targets.delete(key);
    }
  }

  resolveFailed(source: BootstrapSource, nowMs: Ms): void {
    this.#fail(this.#stateOf(source), nowMs);
  }

  /** @param peer Who answered; ourselves: never dialled again. */
  dialed(key: string, peer: string, nowMs: Ms): void {
    const state = this.#targets.get(key);
    if (!state) return;
    // Not at once when it is lost at once: a node that closes what it accepted must not be hammered.
    const dueMs = peer === this.#self ? Infinity : nowMs + this.#jittered(retryMs.first);
    Object.assign(state, { failures: 0, dueMs, isRunning: false, wasTried: true, peer });
  }

  dialFailed(key: string, nowMs: Ms): void {
    const state = this.#targets.get(key);
    if (state) this.#fail(state, nowMs);
  }

  /** Whether every source was asked and every node dialled at least once. */
  get wasAllTried(): boolean {
    return [...this.#sources, ...this.#targets.values()].every(({ wasTried }) => wasTried);
  }

  #fail(state: Attempts, nowMs: Ms): void {
    const waitMs = Math.min(retryMs.first * 2 ** state.failures, retryMs.last);
    state.failures++;
    state.isRunning = false;
    state.wasTried = true;
    state.dueMs = nowMs + this.#jittered(waitMs);
  }

  #jittered(waitMs: Ms): Ms {
    return waitMs * (0.5 + this.#random());
  }

  #stateOf(source: BootstrapSource): SourceState {
    return this.#sources.find((state) => state.source === source)!;
  }
}

function fresh(): Attempts {
  return { failures: 0, dueMs: -Infinity, isRunning: false, wasTried: false };
}

function takeDue<State extends Attempts>(states: readonly State[], nowMs: Ms): State[] {
  const due = states.filter(({ isRunning, dueMs }) => !isRunning && dueMs <= nowMs);
  for (const state of due) state.isRunning = true;
  return due;
}
