// For how long does a request wait for the next step of its answer?
import { NumberTable } from "../base/number_table.ts";
import type { Clock } from "../base/ports.ts";
import type { Ms } from "../base/units.ts";

/** Limits are looked at this often: a fifth of a second more or less is nothing beside seconds and minutes. */
const sweepMs: Ms = 200;

/**
 * What one request waits for at present. A wait is timed from the next look on: a stream begins one with every
 * token, and need not ask the clock each time.
 */
export class Patience {
  private waitUntilMs: Ms = Infinity;
  private isNew = false;
  /** @internal Of the table. */
  key = 0;
  private what = "";
  private limitMs: Ms = Infinity;

  constructor(
    private readonly owner: { drop(patience: Patience): void },
    private readonly totalMs: Ms,
    private readonly totalUntilMs: Ms,
    /** Called for each limit that passes; whoever goes on with the request puts its own here. */
    public expired: (why: string, isTotal: boolean) => void,
  ) {}

  /** Something is waited for from now on. @param what It, in words: `the engine's next bytes`. */
  wait(limitMs: Ms, what: string): void {
    this.isNew = true;
    this.limitMs = limitMs;
    this.what = what;
  }

  /** It came. */
  came(): void {
    this.isNew = false;
    this.waitUntilMs = Infinity;
  }

  /** The request is over. Idempotent. */
  end(): void {
    this.owner.drop(this);
  }

  /** @internal Of the sweep. */
  look(nowMs: Ms): void {
    if (this.isNew) {
      this.isNew = false;
      this.waitUntilMs = nowMs + this.limitMs;
    }
    if (nowMs >= this.totalUntilMs) {
      this.end();
      this.expired(`the whole request took more than ${this.totalMs} ms`, true);
    } else if (nowMs >= this.waitUntilMs) {
      this.waitUntilMs = Infinity;
      this.expired(`${this.what} did not come within ${this.limitMs} ms`, false);
    }
  }
}

/** All requests that run: one timer for them, so that a limit costs a request next to nothing. */
export class ForwardDeadlines {
  private readonly running = new NumberTable<Patience>();
  private timer: ReturnType<typeof setInterval> | undefined;

  constructor(private readonly clock: Clock) {}

  /**
   * A request begins.
   * @param expired Called for each limit that passes.
   * @returns The caller must end it.
   */
  begin(totalMs: Ms, sinceMs: Ms, expired: (why: string, isTotal: boolean) => void): Patience {
    const patience = new Patience(this, totalMs, sinceMs + totalMs, expired);
    patience.key = this.running.add(patience);
    this.timer ??= setInterval(() => this.sweep(), sweepMs);
    return patience;
  }

  drop(patience: Patience): void {
    this.running.delete(patience.key);
  }

  close(): void {
    clearInterval(this.timer);
    this.timer = undefined;
  }

  private sweep(): void {
    const nowMs = this.clock.nowMs();
    for (const patience of this.running.values()) patience.look(nowMs);
    if (this.running.size === 0) this.close();
  }
}
