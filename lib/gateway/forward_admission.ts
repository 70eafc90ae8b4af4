// What happens to a request while every worker that could serve it is full?
import { OtelaError } from "../base/errors.ts";
import type { Clock } from "../base/ports.ts";
import type { Ms } from "../base/units.ts";
import { AdmissionQueue, type Waiter } from "../routing/admission_queue.ts";
import type { LoadBook } from "../routing/load_book.ts";
import type { Candidate } from "../routing/types.ts";

/** Places can get free without our hearing of it, at workers that other heads use as well. */
const lookMs: Ms = 100;

/** What is waited for: requests that the same candidates can serve stand in one line. */
export type AdmissionKey = { readonly service: string; readonly group: string };

/** Who waits. */
export type AdmissionClaim = {
  readonly client: string;
  readonly priority: number;
  /** Takes a place if there is one now. */
  readonly take: () => boolean;
  /** Called with how to give up waiting, before anything else. */
  readonly onWait: (leave: () => void) => void;
};

type Waiting = Waiter & {
  readonly take: () => boolean;
  readonly go: () => void;
  readonly refuse: (error: OtelaError) => void;
};

/** Lines of requests in front of full workers. Costs nothing while nobody waits. */
export class ForwardAdmission {
  private readonly lines = new Map<string, AdmissionQueue<Waiting>>();
  private waitingCount = 0;
  private timer: ReturnType<typeof setInterval> | undefined;

  constructor(
    private readonly clock: Clock,
    private readonly book: LoadBook,
    /** `queueMax`: all lines together. */
    private readonly limits: { readonly queueMax: number; readonly queueWaitMs: Ms },
  ) {}

  /** Whether a candidate says how much it can take, and has that much. */
  readonly isFull = (candidate: Candidate, nowMs: Ms): boolean =>
    candidate.capacity > 0 && this.book.loadCount(candidate, nowMs) >= candidate.capacity;

  /** Whether others wait for the same, so that a newcomer has to stand behind them. */
  isWaiting(key: () => AdmissionKey): boolean {
    return this.waitingCount > 0 && this.lines.has(nameOf(key()));
  }

  /** Requests that wait, for metrics. */
  get count(): number {
    return this.waitingCount;
  }

  /**
   * Waits for a place.
   * @throws {OtelaError} `too_many_requests`: at once when the line is full, else when the wait is over.
   */
  wait(key: AdmissionKey, claim: AdmissionClaim): Promise<void> {
    const name = nameOf(key);
    let line = this.lines.get(name);
    if (!line) {
      if (this.limits.queueMax === 0) return Promise.reject(tooMany("no request may wait"));
      this.lines.set(name, line = new AdmissionQueue(this.limits.queueMax));
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting: Waiting = {
      client: claim.client,
      priority: claim.priority,
      deadlineMs: this.clock.nowMs() + this.limits.queueWaitMs,
      take: claim.take,
      go: resolve,
      refuse: reject,
    };
    // The first of a line is always taken, or a busy model could lock out the others.
    const isFull = this.waitingCount >= this.limits.queueMax && line.size > 0;
    const admission = line.add(waiting, isFull);
    if (!admission.isTaken) return Promise.reject(tooMany(`${line.size} requests wait already`));
    this.waitingCount++;
    if (admission.evicted) {
      this.waitingCount--;
      admission.evicted.refuse(tooMany("others have waited less often"));
    }
    claim.onWait(() => {
      const sizeBefore = line.size;
      line.remove(waiting);
      this.waitingCount -= sizeBefore - line.size;
      this.dropEmpty(name, line);
      reject(new OtelaError("canceled", "Cannot wait for a worker as the client went away"));
    });
    this.timer ??= setInterval(() => this.look(), lookMs);
    this.release(name, line);
    return promise;
  }

  /** A place of the service may have become free. */
  freed(service: string): void {
    if (this.waitingCount === 0) return;
    for (const [name, line] of this.lines) {
      if (name.startsWith(`${service}\n`)) this.release(name, line);
    }
  }

  close(): void {
    clearInterval(this.timer);
    this.timer = undefined;
  }

  private release(name: string, line: AdmissionQueue<Waiting>): void {
    line.release((waiting) => {
      if (!waiting.take()) return false;
      this.waitingCount--;
      waiting.go();
      return true;
    });
    this.dropEmpty(name, line);
  }

  private look(): void {
    const nowMs = this.clock.nowMs();
    for (const [name, line] of this.lines) {
      this.release(name, line);
      for (const late of line.expire(nowMs)) {
        this.waitingCount--;
        late.refuse(tooMany(`none had room for ${this.limits.queueWaitMs} ms`));
      }
      this.dropEmpty(name, line);
    }
    if (this.waitingCount === 0) this.close();
  }

  private dropEmpty(name: string, line: AdmissionQueue<Waiting>): void {
    if (line.size === 0) this.lines.delete(name);
  }
}

/** Service names have no line ends. */
function nameOf({ service, group }: AdmissionKey): string {
  return `${service}\n${group}`;
}

function tooMany(now: string): OtelaError {
  return new OtelaError(
    "too_many_requests",
    `Cannot take the request as a worker must have room for it: all are full and ${now}`,
    { fields: { retryAfterS: 1 } },
  );
}
