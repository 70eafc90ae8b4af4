// How does one request use a relay for its stream?
import type { Bytes } from "../base/units.ts";
import type { AnswerBody } from "../exchange/answer_body.ts";
import type { ExchangeError, HeaderList } from "../exchange/types.ts";
import type { PushedBody } from "../server/pushed_body.ts";
import { type CompletionKind, completionKindOf } from "../usage/completion_request.ts";
import { isRelayable } from "./forward_answer.ts";
import { ForwardAttempt } from "./forward_attempt.ts";
import { brokenEnd, errorEvent } from "./forward_observer.ts";
import { ForwardRelay, type RelayOwner } from "./forward_relay.ts";
import type { ForwardProgress } from "./forward_progress.ts";
import { type BrokenStream, findSuccessor, type Successor } from "./forward_successor.ts";
import { outcomeOfStatus } from "./outcome.ts";

/** Joins a request to the relay of its stream: limits, books, metrics and the log. */
export class ForwardStream implements RelayOwner {
  private readonly relay: ForwardRelay;
  private readonly first: ForwardAttempt;
  /** Bytes of answers that are over. */
  private bytesBefore: Bytes = 0;

  /** Whether an answer is one that is relayed: a streamed completion. */
  static isFor(run: ForwardProgress, status: number, headers: HeaderList): boolean {
    const { plan, target, request } = run.facts;
    return plan.isStream && request.method === "POST" && isRelayable({ status, headers }) &&
      completionKindOf(target.path) !== undefined;
  }

  constructor(
    private readonly run: ForwardProgress,
    private attempt: ForwardAttempt,
    body: AnswerBody,
  ) {
    this.first = attempt;
    const kind = completionKindOf(run.facts.target.path) as CompletionKind;
    this.relay = new ForwardRelay(this, kind, attempt, body);
  }

  /** @throws {ExchangeError} When the stream breaks before it has said anything. */
  async open(): Promise<PushedBody> {
    await this.relay.open();
    this.first.began();
    return this.relay.stream();
  }

  get continuationsMax(): number {
    return this.run.continuationsMax;
  }

  get isClientGone(): boolean {
    return this.run.isClientGone;
  }

  get requestBody(): Uint8Array | undefined {
    const { body } = this.run.facts.plan;
    return body.isReplayable ? body.bytes : undefined;
  }

  reasonOf(error: ExchangeError): ExchangeError {
    return this.run.reasonOf(error);
  }

  waits(isFirst: boolean): void {
    const { limits } = this.run.ports;
    if (isFirst) this.run.patience.wait(limits.firstTokenTimeoutMs, "the first event of a stream");
    else this.run.patience.wait(limits.idleTimeoutMs, "the next event of a stream");
  }

  came(): void {
    this.run.patience.came();
  }

  async successor(broken: BrokenStream): Promise<Successor> {
    const { run } = this;
    const { ports, facts } = run;
    const found = await findSuccessor(ports, broken, {
      next: (accepts) => {
        const next = facts.attempts.nextLike(this.first.attempt, accepts, ports.clock.nowMs());
        return next && run.begin(new ForwardAttempt(ports, next, true));
      },
      ask: (attempt, body) => {
        run.patience.wait(ports.limits.headTimeoutMs, "the head of an answer");
        return attempt.ask(run.head(body.length), body, () => run.observed(true));
      },
    });
    if (found.type === "none") return found;
    this.bytesBefore += this.attempt.observer?.bodyBytes ?? 0;
    if (found.type === "worker") this.attempt = found.attempt;
    run.continued(found.isUsageEstimated, found.type === "worker" ? found.attempt.workerName : "");
    return found;
  }

  broken(error: ExchangeError, why: string): Uint8Array<ArrayBuffer> {
    if (why !== "") this.run.notContinued(why);
    return new TextEncoder().encode(errorEvent(error, this.run.facts.context.requestId, false));
  }

  ended(end: "whole" | "canceled" | ExchangeError): void {
    const { observer } = this.attempt;
    const bodyBytes = this.bytesBefore + (observer?.bodyBytes ?? 0);
    const firstByteAtMs = this.first.observer?.firstByteAtMs ?? -1;
    const { run } = this;
    if (end === "canceled") {
      run.clientGone();
      run.ended({ outcome: "client_gone", code: "canceled", bodyBytes, firstByteAtMs });
    } else if (end === "whole") {
      this.attempt.completed();
      const outcome = observer?.sawError ? "engine_error" : outcomeOfStatus(200);
      run.ended({ outcome, code: "", bodyBytes, firstByteAtMs });
    } else {
      const { outcome, code } = brokenEnd(end, run.facts.context.requestId);
      run.ended({ outcome, code, bodyBytes, firstByteAtMs });
    }
  }
}
