// How are documents of others read without trusting them?
import type { Log } from "../base/ports.ts";
import { type Bytes, MiB, type Ms, secondMs } from "../base/units.ts";
import type { HelperThread, HelperThreads } from "../config/helper_threads.ts";
import { decodeClaim } from "../registry/decode_claim.ts";
import type { LoadedClaim } from "../registry/load_claim.ts";
import type { LoadResult } from "../registry/peer_claims.ts";
import type { FromLoader, ToLoader } from "./claim_loader_messages.ts";

export type ClaimLoaderOptions = {
  /** From `startAutomerge`. */
  readonly module: WebAssembly.Module;
  readonly log: Log;
  /** Starts its thread. */
  readonly helpers: HelperThreads;
};

/** Protocol §2; an honest document takes about one. */
const deadlineMs: Ms = 20;
/**
 * A busy machine can keep an honest thread waiting, and a wrong refusal lasts an hour: one more try, which is given
 * what the worst document that passes the look at its shape takes (0.25 s), on a machine four times as slow.
 */
const secondDeadlineMs: Ms = secondMs;
/** After each document that was only slow the next ones are given so much more time, until the thread rests. */
const patienceFactor = 4;
/** Compiling is done before; this is for a machine that swaps. */
const startDeadlineMs: Ms = 10 * secondMs;
/** After a thread could not start, nothing is tried for so long: else each envelope would try. */
const startAgainAfterMs: Ms = secondMs;
/** Documents sent ahead, so that the thread does not wait for this one between two. */
const sentAheadMax = 4;
const waitingBytesMax: Bytes = 32 * MiB;
/**
 * A thread that has nothing to read for so long is ended: it holds 40 MB, and most nodes read a few claims an
 * hour. A guess; the next one takes 60 ms to start.
 */
const idleMs: Ms = 5 * secondMs;

type Job = {
  readonly document: Uint8Array;
  readonly settle: (result: LoadResult) => void;
  /** Whether it has overrun once. */
  isSecondTry: boolean;
};

/**
 * Reads documents in a thread without permissions, one at a time and each with a deadline. A thread that overruns
 * or crashes is ended and replaced; what was behind the guilty document is read by the next thread.
 */
export class ClaimLoader implements Disposable {
  readonly #options: ClaimLoaderOptions;
  #waiting: Job[] = [];
  #waitingBytes: Bytes = 0;
  /** With the thread, in the order in which it will answer. */
  #sent: Job[] = [];
  #thread: HelperThread | undefined;
  #isReady = false;
  #isClosed = false;
  #failedAtMs: Ms = -Infinity;
  /** What a document is given at first: a new thread costs a busy machine more than some patience. */
  #patienceMs: Ms = deadlineMs;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #idleTimer: ReturnType<typeof setTimeout> | undefined;

  /** Starts no thread before the first document. */
  constructor(options: ClaimLoaderOptions) {
    this.#options = options;
  }

  /**
   * Reads one document.
   * @param document Untrusted; copied to the thread.
   * @returns Always a result: `overloaded` when too much waits, when no thread could start a moment ago, or
   * when the loader is closed.
   */
  load(document: Uint8Array): Promise<LoadResult> {
    const isResting = performance.now() - this.#failedAtMs < startAgainAfterMs;
    const isFull = this.#waitingBytes + document.byteLength > waitingBytesMax;
    if (this.#isClosed || isResting || isFull) {
      return Promise.resolve({ type: "refused", reason: "overloaded" });
    }
    return new Promise((settle) => {
      clearTimeout(this.#idleTimer);
      this.#waitingBytes += document.byteLength;
      this.#waiting.push({ document, settle, isSecondTry: false });
      if (!this.#thread) this.#start();
      this.#send();
    });
  }

  /** Ends the thread; everything that waits is refused as `overloaded`. Idempotent. */
  [Symbol.dispose](): void {
    this.#isClosed = true;
    this.#end();
    this.#refuseAll();
  }

  #start(): void {
    this.#thread = this.#options.helpers.start("claim loader", {
      said: (data) => this.#answered(data as FromLoader),
      failed: (message) => this.#crashed(message),
    });
    this.#post({ type: "start", module: this.#options.module });
    this.#timer = setTimeout(() => this.#failedToStart("it took too long"), startDeadlineMs);
  }

  #end(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#idleTimer);
    this.#thread?.end();
    this.#thread = undefined;
    this.#isReady = false;
  }

  #post(message: ToLoader): void {
    this.#thread?.post(message);
  }

  #send(): void {
    if (!this.#isReady) return;
    const wasIdle = this.#sent.length === 0;
    while (this.#waiting.length > 0 && this.#sent.length < sentAheadMax) {
      // A document that has overrun once goes alone: nothing else shall suffer when it does again.
      const isAlone = this.#waiting[0].isSecondTry || this.#sent[0]?.isSecondTry;
      if (isAlone && this.#sent.length > 0) break;
      const job = this.#waiting.shift()!;
      this.#waitingBytes -= job.document.byteLength;
      this.#sent.push(job);
      this.#post({ type: "load", document: job.document });
    }
    if (wasIdle) this.#watch();
  }

  /** Gives the document that is being read its deadline. */
  #watch(): void {
    clearTimeout(this.#timer);
    const [job] = this.#sent;
    if (!job) return this.#rest();
    const limitMs = job.isSecondTry ? secondDeadlineMs : this.#patienceMs;
    this.#timer = setTimeout(() => {
      // If this thread was the busy one, the answer waits behind this timer: let it come first.
      this.#timer = setTimeout(() => {
        if (this.#sent[0] === job) this.#overran(job);
      }, 1);
    }, limitMs);
  }

  #rest(): void {
    clearTimeout(this.#idleTimer);
    this.#idleTimer = setTimeout(() => {
      this.#end();
      this.#patienceMs = deadlineMs;
    }, idleMs);
  }

  #answered(answer: FromLoader): void {
    if (answer.type === "crashed") return this.#crashed(answer.message);
    if (answer.type === "ready") {
      clearTimeout(this.#timer);
      this.#isReady = true;
      return this.#send();
    }
    const job = this.#sent.shift();
    if (job?.isSecondTry) {
      this.#patienceMs = Math.min(secondDeadlineMs, this.#patienceMs * patienceFactor);
    }
    job?.settle(answer.type === "loaded" ? checked(answer.loaded) : badClaim);
    this.#watch();
    this.#send();
  }

  #overran(job: Job): void {
    this.#sent.shift();
    if (job.isSecondTry) {
      this.#options.log.warn("claim_loader.overran", { bytes: job.document.byteLength });
      job.settle({ type: "refused", reason: "overrun" });
      return this.#replace([]);
    }
    job.isSecondTry = true;
    this.#replace([job]);
  }

  #crashed(message: string): void {
    if (!this.#isReady) return this.#failedToStart(message);
    const job = this.#sent.shift();
    this.#options.log.warn("claim_loader.crashed", {
      message,
      bytes: job?.document.byteLength ?? 0,
    });
    job?.settle({ type: "refused", reason: "overrun" });
    this.#replace([]);
  }

  #replace(first: Job[]): void {
    this.#end();
    const again = [...first, ...this.#sent];
    this.#sent = [];
    this.#waiting.unshift(...again);
    for (const job of again) this.#waitingBytes += job.document.byteLength;
    if (this.#waiting.length > 0) this.#start(); // Else the next document starts one.
  }

  /** Nothing can be read now; a document after a while tries again. */
  #failedToStart(message: string): void {
    this.#failedAtMs = performance.now();
    this.#options.log.error("claim_loader.failed", { message });
    this.#end();
    this.#refuseAll();
  }

  #refuseAll(): void {
    const all = [...this.#sent, ...this.#waiting];
    this.#sent = [];
    this.#waiting = [];
    this.#waitingBytes = 0;
    for (const job of all) job.settle({ type: "refused", reason: "overloaded" });
  }
}

const badClaim: LoadResult = { type: "refused", reason: "bad_claim" };

/** Checks once more on this side and freezes, which does not survive the way between threads. */
function checked({ claim, origin }: LoadedClaim): LoadResult {
  try {
    return { type: "loaded", loaded: { claim: decodeClaim(claim), origin } };
  } catch {
    return badClaim;
  }
}
