// Which calls of engines are running here?
import { NumberTable } from "../base/number_table.ts";
import type { Clock } from "../base/ports.ts";
import { type Ms, secondMs } from "../base/units.ts";
import { type AnswerTaker, EngineCall } from "./engine_call.ts";
import type { ExchangeRequestHead } from "./types.ts";
import type { Upstream } from "./upstream.ts";

/** Limits are minutes; one timer for all calls is exact enough and costs a request nothing. */
const sweepMs: Ms = secondMs;

/** Starts calls, counts them per service, and ends those whose engine has gone silent. */
export class EngineCalls {
  private readonly running = new NumberTable<EngineCall>();
  private readonly countOf = new Map<string, number>();
  /** Calls begun since the start. */
  startedCount = 0;
  private timer: ReturnType<typeof setInterval> | undefined;

  constructor(readonly clock: Clock) {}

  /** @param body The first bytes, or all of them when `isEnd`; copied. */
  start(
    upstream: Upstream,
    head: ExchangeRequestHead,
    body: Uint8Array,
    isEnd: boolean,
    answer: AnswerTaker,
  ): EngineCall {
    const { name } = upstream;
    const call: EngineCall = new EngineCall(upstream, answer, this.clock, () => {
      this.running.delete(key);
      return this.count(name, -1);
    });
    const key = this.running.add(call);
    this.count(name, 1);
    this.startedCount++;
    this.timer ??= setInterval(() => this.sweep(), sweepMs);
    call.start(head, body, isEnd);
    return call;
  }

  /** Calls open for one service. */
  load(service: string): number {
    return this.countOf.get(service) ?? 0;
  }

  /** Calls open for all services. */
  get openCount(): number {
    return this.running.size;
  }

  /** Ends every call. */
  close(): void {
    clearInterval(this.timer);
    for (const call of this.running.values()) call.canceled();
  }

  private count(service: string, change: number): number {
    const count = this.load(service) + change;
    this.countOf.set(service, count);
    return count;
  }

  private sweep(): void {
    const nowMs = this.clock.nowMs();
    for (const call of this.running.values()) call.tick(nowMs);
    if (this.running.size > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }
}
